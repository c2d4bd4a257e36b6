package io.millrace.cli.graph.file;

import io.millrace.server.config.EditDistance;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys of one part of a file, each known and there once. */
final class Keys {
  private final Map<String, Yaml.Field> fields = new LinkedHashMap<>();

  /**
   * Checks them.
   *
   * @param of what they belong to, for messages
   * @param known the keys that there may be
   * @param mistakes takes what is wrong
   */
  Keys(Yaml.Fields given, String of, Collection<String> known, List<Mistake> mistakes) {
    for (Yaml.Field field : given.fields()) {
      if (!known.contains(field.key())) {
        mistakes.add(new Mistake(field.line(), unknown(field.key(), of, known)));
      } else {
        Yaml.Field before = fields.putIfAbsent(field.key(), field);
        if (before != null) {
          mistakes.add(
              new Mistake(
                  field.line(), field.key() + " is there already, on line " + before.line()));
        }
      }
    }
  }

  private static String unknown(String key, String of, Collection<String> known) {
    String nearest = EditDistance.nearest(key, known);
    return of + " has no " + key + (nearest == null ? "" : "; did you mean " + nearest + "?");
  }

  /** The value of a key; null where it is not there or null. */
  @Nullable Yaml find(String key) {
    Yaml.Field field = fields.get(key);
    return field == null || field.value().isNull() ? null : field.value();
  }
}
