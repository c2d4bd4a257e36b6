package io.millrace.server.config;

import io.millrace.server.config.Key.FreeName;
import io.millrace.store.environment.FileProblem;
import io.millrace.work.policy.PolicyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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
   * @param sections all sections
   * @param file a YAML file; null for none
   * @param flags values by whole key, for example {@code server.port}, given by {@code --set}; they
   *     take precedence over the file
   * @throws ConfigurationException if the file cannot be read, a key is not known, or a value has
   *     the wrong form or is out of range; the message names the key
   */
  public static Configuration read(
      List<Section<?>> sections, @Nullable Path file, Map<String, String> flags) {
    List<Flag> set = new ArrayList<>();
    flags.forEach((key, text) -> set.add(Flag.set(key, text)));
    return read(sections, file, set);
  }

  /**
   * The same with flags of other names. If a key is given twice, the later value applies.
   *
   * @param flags what was given on the command line; it takes precedence over the file
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
   * @throws IllegalArgumentException if it was not among the sections read
   */
  public <R> R get(Section<R> section) {
    @SuppressWarnings("unchecked") // What a section's own function made.
    R held = (R) records.get(section);
    if (held == null) {
      throw new IllegalArgumentException("the section was not read: " + section.name());
    }
    return held;
  }

  /**
   * Warnings about settings that work but are unwise, one sentence each, to be shown at the start.
   */
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
      // A key that ends with a chosen name takes no value: with one it is a mistyped key.
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
    } catch (PolicyException e) {
      throw new ConfigurationException(value.where() + ": " + name + ": " + e.getMessage(), e);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new ConfigurationException(
          value.where() + ": " + name + " must be " + key.form() + ", not \"" + value.text() + "\"",
          e);
    }
  }

  private static ConfigurationException unknown(
      String name, Given value, Map<String, Key<?>> keys) {
    String nearest = EditDistance.suggestion(name, FreeName.candidates(keys.keySet(), name));
    return new ConfigurationException(
        value.where()
            + ": there is no key "
            + name
            + (nearest == null ? "" : "; did you mean " + nearest + "?"));
  }

  /**
   * A setting given on the command line.
   *
   * @param key its whole key, for example {@code server.port}
   * @param text the text of its value
   * @param typed how it was written there, for example {@code --port}; messages name it so
   */
  public record Flag(String key, String text, String typed) {
    /** A setting given as {@code --set KEY=VALUE}. */
    public static Flag set(String key, String text) {
      return new Flag(key, text, "--set " + key);
    }
  }

  /**
   * A named part of the configuration, and the record that holds its settings.
   *
   * @param name the first part of its keys, for example {@code server} of {@code server.port}
   * @param keys its keys
   * @param record makes the record from the values
   * @param <R> the record
   */
  public record Section<R>(String name, List<Key<?>> keys, Function<Values, R> record) {
    public Section {
      keys = List.copyOf(keys);
    }
  }

  /**
   * A value as it was written.
   *
   * @param text the text of the value
   * @param where the place where it was written, for example {@code millrace.yaml line 3} or {@code
   *     --port}
   * @param nothing whether the key was written without a value
   */
  record Given(String text, String where, boolean nothing) {
    Given(String text, String where) {
      this(text, where, false);
    }
  }

  /** The checked values of one section. */
  public static final class Values {
    private final Map<String, Given> given;

    /** Takes values that were checked to have the form of their keys. */
    Values(Map<String, Given> given) {
      this.given = new LinkedHashMap<>(given);
    }

    /** The value of a key: the one that was given, or the default. */
    public <T extends @Nullable Object> T get(Key<T> key) {
      Given text = given.get(key.name());
      return text == null ? key.absent() : key.reader().apply(text.text());
    }

    /** The names that users have put in place of {@code NAME} in a key, in their order. */
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

    /** The value of a key with this name in place of {@code NAME}. */
    public <T extends @Nullable Object> T get(Key<T> key, String free) {
      Given text = given.get(key.name().replace(Key.FREE, free));
      return text == null ? key.absent() : key.reader().apply(text.text());
    }
  }

  /** A YAML file of nested keys, flattened to {@code section.key} with the line of each value. */
  private static final class YamlFile {
    /** Other spellings of null, which are text in the JSON schema of YAML 1.2. */
    private static final Set<String> NULLS = Set.of("~", "Null", "NULL");

    private final Path file;
    private final Map<String, Given> values = new LinkedHashMap<>();

    private YamlFile(Path file) {
      this.file = file;
    }

    static Map<String, Given> read(Path file) {
      YamlFile reader = new YamlFile(file);
      try {
        Yaml root = Yaml.read(Files.readString(file));
        if (root instanceof Yaml.Fields fields) {
          reader.add("", fields);
        } else if (root != null && !isNothing(root)) {
          throw new ConfigurationException(reader.where(root) + ": expected keys with values");
        }
      } catch (Yaml.Mistake e) {
        throw new ConfigurationException(file + " " + e.getMessage(), e);
      } catch (NoSuchFileException e) {
        throw new ConfigurationException("there is no configuration file " + file, e);
      } catch (IOException e) {
        throw new ConfigurationException(
            "cannot read the configuration file " + file + ": " + FileProblem.reason(e), e);
      }
      return reader.values;
    }

    private void add(String prefix, Yaml.Fields fields) {
      Set<String> keys = new HashSet<>();
      for (Yaml.Field field : fields.fields()) {
        String key = prefix + field.key();
        if (!keys.add(key)) {
          throw new ConfigurationException(
              file + " line " + field.line() + ": " + key + " is there already");
        }
        Yaml value = field.value();
        switch (value) {
          case Yaml.Fields nested when !nested.fields().isEmpty() -> add(key + ".", nested);
          case Yaml.Items _ ->
              throw new ConfigurationException(where(value) + ": " + key + " cannot be a list");
          case Yaml.Scalar scalar when !isNothing(value) ->
              values.put(key, new Given(scalar.text(), where(value)));
          default -> values.put(key, new Given("", where(value), true));
        }
      }
    }

    private static boolean isNothing(Yaml value) {
      return value instanceof Yaml.Scalar scalar
          && (value.isNull() || (!scalar.quoted() && NULLS.contains(scalar.text())));
    }

    private String where(Yaml value) {
      return file + " line " + value.line();
    }
  }
}
