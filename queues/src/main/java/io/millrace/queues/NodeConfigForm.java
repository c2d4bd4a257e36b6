package io.millrace.queues;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The fields of the stored configuration. */
final class NodeConfigForm {
  private static final Set<String> LEVELS = Set.of("error", "warn", "info", "debug", "trace");

  private static final Pattern PLUGIN = Pattern.compile("[A-Za-z0-9_:.-]+");

  private NodeConfigForm() {}

  static NodeConfig read(ObjectNode fields) {
    String level = text(fields, "log_level");
    if (level != null && !LEVELS.contains(level)) {
      throw new InvalidRequestException("log_level", "log_level must be one of " + LEVELS);
    }
    return new NodeConfig(
        text(fields, "label"),
        strings(fields, "task_runner"),
        plugins(fields),
        strings(fields, "activequeues"),
        strings(fields, "ignorequeues"),
        level,
        output(fields));
  }

  private static List<String> plugins(ObjectNode fields) {
    List<String> names = strings(fields, "plugins");
    for (String name : names) {
      if (!PLUGIN.matcher(name).matches()) {
        throw new InvalidRequestException(
            "plugins", "the name of a plugin has the characters A-Z a-z 0-9 _ : . - and no others");
      }
    }
    return names;
  }

  private static OutputLimits output(ObjectNode fields) {
    OutputLimits defaults = OutputLimits.DEFAULTS;
    String files = text(fields, "output_files");
    return new OutputLimits(
        files == null ? defaults.files() : files(files),
        bytes(fields, "output_text_bytes", defaults.textBytes()),
        bytes(fields, "output_max_bytes", defaults.maxBytes()));
  }

  private static OutputLimits.Files files(String word) {
    for (OutputLimits.Files files : OutputLimits.Files.values()) {
      if (files.name().toLowerCase(Locale.ROOT).equals(word)) {
        return files;
      }
    }
    throw new InvalidRequestException(
        "output_files", "output_files must be auto, always or never, not " + word);
  }

  private static long bytes(ObjectNode fields, String field, long fallback) {
    JsonNode value = fields.get(field);
    if (value == null) {
      return fallback;
    }
    if (!value.canConvertToLong() || !value.isIntegralNumber() || value.asLong() < 0) {
      throw new InvalidRequestException(field, field + " must be a non-negative integer");
    }
    return value.asLong();
  }

  private static @Nullable String text(ObjectNode fields, String field) {
    JsonNode value = fields.get(field);
    if (value == null) {
      return null;
    }
    if (!value.isString()) {
      throw new InvalidRequestException(field, field + " must be a string");
    }
    return value.asString();
  }

  private static List<String> strings(ObjectNode fields, String field) {
    JsonNode value = fields.get(field);
    List<String> strings = new ArrayList<>();
    if (value == null) {
      return strings;
    }
    if (value.isString()) {
      return List.of(value.asString());
    }
    for (JsonNode element : value) {
      if (!element.isString()) {
        throw new InvalidRequestException(field, field + " must be an array of strings");
      }
      strings.add(element.asString());
    }
    if (!value.isArray()) {
      throw new InvalidRequestException(field, field + " must be an array of strings");
    }
    return strings;
  }
}
