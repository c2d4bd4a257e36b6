package io.millrace.cli.graph.file;

import io.millrace.cli.terminal.Durations;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads single values of nodes as the server wants them. */
final class Values {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final Path folder;
  private final List<Mistake> mistakes;

  /**
   * With relative paths counting from a folder.
   *
   * @param mistakes takes what is wrong
   */
  Values(Path folder, List<Mistake> mistakes) {
    this.folder = folder;
    this.mistakes = mistakes;
  }

  /** A value of a node's data; null where it is wrong. */
  @Nullable JsonNode data(String key, Yaml value) {
    return switch (key) {
      case "retries" -> count(key, value);
      case "backoff", "timeout", "interval" -> seconds(key, value);
      case "cwd", "file" -> path(key, value);
      case "env" -> texts(key, value);
      case "stdin", "port", "queue", "job_type", "description", "priority" -> textNode(key, value);
      default -> value.json();
    };
  }

  private void wrong(Yaml value, String message) {
    mistakes.add(new Mistake(value.line(), message));
  }

  /** Text as it is written, so that 007 stays 007; empty where it is wrong. */
  String text(String key, Yaml value) {
    if (value instanceof Yaml.Scalar scalar && !scalar.isNull()) {
      return scalar.text();
    }
    wrong(value, key + " must be text");
    return "";
  }

  JsonNode textNode(String key, Yaml value) {
    return JSON.stringNode(text(key, value));
  }

  /** A list of texts, or one. */
  List<String> names(String key, Yaml value) {
    if (value instanceof Yaml.Items list) {
      return list.items().stream().map(item -> text(key, item)).toList();
    }
    return List.of(text(key, value));
  }

  ArrayNode textNodes(String key, Yaml value) {
    ArrayNode list = JSON.arrayNode();
    names(key, value).forEach(list::add);
    return list;
  }

  /** A program with its arguments in one list. */
  void addCommand(Yaml.Items line, @Nullable Yaml args, Map<String, JsonNode> data) {
    List<String> words = new ArrayList<>(names("command", line));
    if (args != null) {
      wrong(args, "the arguments stand behind the command already");
    }
    if (words.isEmpty()) {
      wrong(line, "command is empty");
      return;
    }
    data.put("command", JSON.stringNode(words.removeFirst()));
    if (!words.isEmpty()) {
      ArrayNode list = JSON.arrayNode();
      words.forEach(list::add);
      data.put("args", list);
    }
  }

  /** Then or else; empty where it is wrong. */
  String branch(Yaml value) {
    String text = text("branch", value);
    if (text.equals("then") || text.equals("else")) {
      return text;
    }
    wrong(value, "branch is then or else, not '" + text + "'");
    return "";
  }

  boolean truth(String key, Yaml value) {
    JsonNode json = value.json();
    if (!json.isBoolean()) {
      wrong(value, key + " is true or false, not " + json);
    }
    return json.asBoolean(false);
  }

  private @Nullable JsonNode count(String key, Yaml value) {
    JsonNode json = value.json();
    if (json.isIntegralNumber() && json.canConvertToInt() && json.intValue() >= 0) {
      return json;
    }
    wrong(value, key + " is a number from 0, not " + json);
    return null;
  }

  /** A number of seconds, or a duration as on the command line. */
  private @Nullable JsonNode seconds(String key, Yaml value) {
    JsonNode json = value.json();
    if (json.isNumber() && json.decimalValue().signum() >= 0) {
      return json;
    }
    try {
      long millis =
          new Durations().convert(value instanceof Yaml.Scalar one ? one.text() : "").toMillis();
      return seconds(millis);
    } catch (TypeConversionException _) {
      wrong(value, key + " is a duration as 30s or 5m, or a number of seconds, not " + json);
      return null;
    }
  }

  /** As a plain number, without an exponent. */
  private static JsonNode seconds(long millis) {
    BigDecimal seconds = BigDecimal.valueOf(millis, 3).stripTrailingZeros();
    return JSON.numberNode(seconds.scale() < 0 ? seconds.setScale(0) : seconds);
  }

  private @Nullable JsonNode path(String key, Yaml value) {
    String text = text(key, value);
    try {
      return JSON.stringNode(folder.resolve(text).normalize().toString());
    } catch (InvalidPathException e) {
      wrong(value, key + " is no path: " + e.getMessage());
      return null;
    }
  }

  private @Nullable JsonNode texts(String key, Yaml value) {
    if (!(value instanceof Yaml.Fields fields)) {
      wrong(value, key + " must have a name and a value on each line");
      return null;
    }
    ObjectNode object = JSON.objectNode();
    for (Yaml.Field field : fields.fields()) {
      if (object.has(field.key())) {
        mistakes.add(new Mistake(field.line(), field.key() + " is there already"));
      }
      object.put(field.key(), text(field.key(), field.value()));
    }
    return object;
  }

  /** A node's own value before what holds for all; of variables each by itself. */
  JsonNode merged(String key, JsonNode own, JsonNode common) {
    if (key.equals("env") && own instanceof ObjectNode mine && common instanceof ObjectNode all) {
      ObjectNode both = all.deepCopy();
      both.setAll(mine);
      return both;
    }
    return own;
  }
}
