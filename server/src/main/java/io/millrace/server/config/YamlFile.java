package io.millrace.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;

/** A YAML file of nested keys, flattened to {@code section.key} with the line of each value. */
final class YamlFile {
  private static final YAMLFactory YAML =
      YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final Path file;
  private final JsonParser yaml;
  private final Map<String, Given> values = new LinkedHashMap<>();

  private YamlFile(Path file, JsonParser yaml) {
    this.file = file;
    this.yaml = yaml;
  }

  static Map<String, Given> read(Path file) {
    byte[] text;
    try {
      text = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new ConfigurationException("there is no configuration file " + file, e);
    } catch (IOException e) {
      throw new ConfigurationException("cannot read the configuration file " + file + ": " + e, e);
    }
    try (JsonParser yaml = YAML.createParser(ObjectReadContext.empty(), text)) {
      YamlFile reader = new YamlFile(file, yaml);
      JsonToken first = yaml.nextToken();
      if (first == null || first == JsonToken.VALUE_NULL) {
        return Map.of();
      }
      if (first != JsonToken.START_OBJECT) {
        throw new ConfigurationException(reader.where() + ": expected keys with values");
      }
      reader.object("");
      return reader.values;
    } catch (JacksonException e) {
      long line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw new ConfigurationException(
          file + " line " + line + ": not YAML: " + e.getOriginalMessage(), e);
    }
  }

  private void object(String prefix) {
    while (yaml.nextToken() != JsonToken.END_OBJECT) {
      String key = prefix + yaml.currentName();
      JsonToken value = yaml.nextToken();
      switch (value) {
        case START_OBJECT -> {
          int before = values.size();
          String where = where();
          object(key + ".");
          if (values.size() == before) {
            values.put(key, new Given("", where, true));
          }
        }
        case VALUE_NULL -> values.put(key, new Given("", where(), true));
        case START_ARRAY ->
            throw new ConfigurationException(where() + ": " + key + " cannot be a list");
        default -> values.put(key, new Given(yaml.getString(), where()));
      }
    }
  }

  private String where() {
    return file + " line " + yaml.currentTokenLocation().getLineNr();
  }
}
