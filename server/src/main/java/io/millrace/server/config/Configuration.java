package io.millrace.server.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All settings, read and checked: one record for each section. Immutable. */
public final class Configuration {
  private final Map<Section<?>, Object> records;
  private final List<String> warnings;

  private Configuration(Map<Section<?>, Object> records, List<String> warnings) {
    this.records = records;
    this.warnings = List.copyOf(warnings);
  }

  /**
   * Reads and checks the settings of these sections.
   *
   * @param sections every section there is
   * @param file a YAML file; null for none
   * @param flags values by whole key, as {@code server.port}, given by {@code --set}; they go
   *     before the file
   * @throws ConfigurationException for a file that cannot be read, a key that is not known or a
   *     value of the wrong form or out of range, naming it
   */
  public static Configuration read(
      List<Section<?>> sections, @Nullable Path file, Map<String, String> flags) {
    List<Flag> set = new ArrayList<>();
    flags.forEach((key, text) -> set.add(Flag.set(key, text)));
    return read(sections, file, set);
  }

  /**
   * The same with flags of other names; of two for one key the later counts.
   *
   * @param flags what was given on the command line; it goes before the file
   */
  public static Configuration read(
      List<Section<?>> sections, @Nullable Path file, List<Flag> flags) {
    Map<String, Given> given = new LinkedHashMap<>();
    if (file != null) {
      given.putAll(YamlFile.read(file));
    }
    flags.forEach(flag -> given.put(flag.key(), new Given(flag.text(), flag.typed())));

    List<String> warnings = new ArrayList<>();
    Map<String, Map<String, Given>> bySection = new HashMap<>();
    Map<String, Key<?>> keys = new LinkedHashMap<>();
    for (Section<?> section : sections) {
      section.keys().forEach(key -> keys.put(section.name() + "." + key.name(), key));
    }
    given.forEach((name, value) -> {
      Key<?> key = key(name, value, keys);
      if (key == null) {
        if (value.nothing() && isKnown(name, keys)) {
          return; // A section or key left empty says nothing.
        }
        throw unknown(name, value, keys);
      }
      check(name, key, value);
      int dot = name.indexOf('.');
      if (key.secretFile() != null && isOnCommandLine(name, value, flags)) {
        warnings.add(
            "%s: every user of this machine can read this secret in the list of processes; %s.%s"
                    .formatted(value.where(), name.substring(0, dot), key.secretFile())
                + " reads it from a file");
      }
      bySection
          .computeIfAbsent(name.substring(0, dot), _ -> new LinkedHashMap<>())
          .put(name.substring(dot + 1), value);
    });

    Map<Section<?>, Object> records = new HashMap<>();
    for (Section<?> section : sections) {
      Values values = new Values(bySection.getOrDefault(section.name(), Map.of()));
      records.put(section, section.record().apply(values));
    }
    return new Configuration(records, warnings);
  }

  /** The defaults of these sections. */
  public static Configuration defaults(List<Section<?>> sections) {
    return read(sections, null, Map.of());
  }

  /**
   * The settings of a section.
   *
   * @throws IllegalArgumentException when it was not among the sections read
   */
  public <R> R get(Section<R> section) {
    @SuppressWarnings("unchecked") // What a section's own function made.
    R held = (R) records.get(section);
    if (held == null) {
      throw new IllegalArgumentException("the section was not read: " + section.name());
    }
    return held;
  }

  /** What works but is unwise, one sentence each, for the user to read at the start. */
  public List<String> warnings() {
    return warnings;
  }

  private static boolean isOnCommandLine(String name, Given value, List<Flag> flags) {
    return !value.text().isEmpty() && flags.stream().anyMatch(flag -> flag.key().equals(name));
  }

  private static @Nullable Key<?> key(String name, Given value, Map<String, Key<?>> keys) {
    Key<?> key = keys.get(name);
    if (key != null) {
      return value.nothing() ? null : key;
    }
    for (Map.Entry<String, Key<?>> each : keys.entrySet()) {
      // A name that needs no more is one without a value, so that a mistyped key is told from it.
      boolean bare = each.getKey().endsWith(Key.FREE);
      if (FreeName.of(each.getKey(), name) != null && (!bare || value.nothing())) {
        return each.getValue();
      }
    }
    return null;
  }

  /** Whether this is a key, or the beginning of keys. */
  private static boolean isKnown(String name, Map<String, Key<?>> keys) {
    return keys.keySet().stream()
        .anyMatch(known -> known.equals(name) || known.startsWith(name + "."));
  }

  private static void check(String name, Key<?> key, Given value) {
    try {
      var _ = key.reader().apply(value.text());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new ConfigurationException(
          value.where() + ": " + name + " must be " + key.form() + ", not \"" + value.text() + "\"",
          e);
    }
  }

  private static ConfigurationException unknown(
      String name, Given value, Map<String, Key<?>> keys) {
    String nearest = EditDistance.nearest(name, FreeName.candidates(keys.keySet(), name));
    return new ConfigurationException(
        value.where()
            + ": there is no key "
            + name
            + (nearest == null ? "" : "; did you mean " + nearest + "?"));
  }
}
