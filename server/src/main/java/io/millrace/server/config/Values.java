package io.millrace.server.config;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The checked values of one section. */
public final class Values {
  private final Map<String, Given> given;

  /** What the file or a flag says, checked to be of the key's form. */
  Values(Map<String, Given> given) {
    this.given = new LinkedHashMap<>(given);
  }

  /** The value of a key: what is given, or the default. */
  public <T extends @Nullable Object> T get(Key<T> key) {
    Given text = given.get(key.name());
    return text == null ? key.absent() : key.reader().apply(text.text());
  }

  /** What users have named in the place of {@code NAME} in a key, in their order. */
  public Set<String> names(Key<?> key) {
    Set<String> names = new LinkedHashSet<>();
    boolean bare = key.name().endsWith(Key.FREE);
    given.forEach((name, value) -> {
      String free = FreeName.of(key.name(), name);
      if (free != null && (!bare || value.nothing())) {
        names.add(free);
      }
    });
    return names;
  }

  /** The value of a key with this in the place of {@code NAME}. */
  public <T extends @Nullable Object> T get(Key<T> key, String free) {
    Given text = given.get(key.name().replace(Key.FREE, free));
    return text == null ? key.absent() : key.reader().apply(text.text());
  }
}
