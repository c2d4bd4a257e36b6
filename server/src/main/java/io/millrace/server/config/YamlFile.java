package io.millrace.server.config;

import io.millrace.server.config.Configuration.Given;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** A YAML file of nested keys, flattened to {@code section.key} with the line of each value. */
final class YamlFile {
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
      throw new ConfigurationException("cannot read the configuration file " + file + ": " + e, e);
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
