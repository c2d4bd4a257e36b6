package io.millrace.cli.graph.file;

import io.millrace.cli.graph.file.GraphFileException.Mistakes;
import io.millrace.cli.terminal.Durations;
import io.millrace.server.config.EditDistance;
import io.millrace.server.config.Yaml;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads the nodes of a file one by one. */
final class NodeReader {
  private static final int LONGEST_NAME = 128;
  private static final List<String> OWN =
      List.of("type", "name", "parent", "parents", "after", "branch", "always", "data");
  private static final List<String> DEFAULTS =
      Stream.concat(Stream.of("env", "cwd"), TypeKeys.POLICY.stream()).toList();

  private final Values values;
  private final Mistakes mistakes;
  private final Map<String, JsonNode> defaults = new LinkedHashMap<>();

  /**
   * With the defaults of a file.
   *
   * @param given the value of {@code defaults}; null for none
   */
  NodeReader(Path folder, @Nullable Yaml given, Mistakes mistakes) {
    this.mistakes = mistakes;
    values = new Values(folder, mistakes);
    if (given instanceof Yaml.Fields fields) {
      GraphFile.Keys keys = new GraphFile.Keys(fields, "defaults", DEFAULTS, mistakes);
      DEFAULTS.forEach(key -> put(defaults, key, keys));
    } else if (given != null) {
      mistakes.add(given.line(), "defaults must have keys, for example env");
    }
  }

  private void put(Map<String, JsonNode> data, String key, GraphFile.Keys keys) {
    Yaml value = keys.find(key);
    JsonNode json = value == null ? null : values.data(key, value);
    if (json != null) {
      data.put(key, json);
    }
  }

  /** Reads a node, which is incomplete if it has mistakes. */
  FileNode read(Yaml.Field field) {
    String name = field.key();
    if (!(field.value() instanceof Yaml.Fields given)) {
      mistakes.add(
          field.value().line(),
          "the node '" + name + "' must have keys, for example 'shell: echo hello'");
      return new FileNode(
          name,
          field.line(),
          name,
          "",
          new FileNode.Place(List.of(), List.of(), "", false),
          Map.of());
    }
    String type = type(name, field.line(), given);
    Optional<Set<String>> inputs = TypeKeys.inputs(type);
    List<String> known = new ArrayList<>(OWN);
    known.addAll(inputs.isPresent() ? inputs.get() : TypeKeys.allInputs());
    String what = inputs.isPresent() ? "a node of type '" + type + "'" : "a node";
    int before = mistakes.size();
    GraphFile.Keys keys = new GraphFile.Keys(given, what, known, mistakes);
    Map<String, JsonNode> data = data(type, keys);
    if (mistakes.size() == before) {
      TypeKeys.mistake(type, data.keySet())
          .ifPresent(wrong -> mistakes.add(field.line(), "the node '" + name + "' " + wrong));
    }
    return new FileNode(name, field.line(), name(name, keys), type, place(keys), data);
  }

  /** The type that is given, otherwise the type implied by {@code shell} or {@code command}. */
  private String type(String name, int line, Yaml.Fields given) {
    Yaml shell = null;
    Yaml command = null;
    for (Yaml.Field field : given.fields()) {
      switch (field.key()) {
        case "type" -> {
          if (!field.value().isNull()) {
            return checkedType(values.text("type", field.value()), given, field.line());
          }
        }
        case "shell" -> shell = field.value();
        case "command" -> command = field.value();
        default -> {}
      }
    }
    if (shell == null && command == null) {
      mistakes.add(line, "the node '" + name + "' has neither shell nor command nor type");
      return "";
    }
    return shell != null ? TypeKeys.SHELL : TypeKeys.COMMAND;
  }

  private String checkedType(String type, Yaml.Fields given, int line) {
    if (TypeKeys.inputs(type).isEmpty()) {
      boolean guessed = given.fields().stream().anyMatch(field -> !OWN.contains(field.key()));
      if (guessed) {
        String near = EditDistance.suggestion(type, TypeKeys.types());
        mistakes.add(
            line,
            "the type '%s' is not known here%s Data of other types goes below data"
                .formatted(type, near == null ? "." : "; did you mean " + near + "?"));
      }
    }
    return type;
  }

  private String name(String key, GraphFile.Keys keys) {
    Yaml given = keys.find("name");
    String name = given == null ? key : values.text("name", given);
    if (name.length() > LONGEST_NAME && given != null) {
      mistakes.add(given.line(), "a name has at most " + LONGEST_NAME + " characters");
    }
    return name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) : name;
  }

  private FileNode.Place place(GraphFile.Keys keys) {
    Yaml parent = keys.find("parent");
    Yaml parents = keys.find("parents");
    if (parent != null && parents != null) {
      mistakes.add(parents.line(), "name the parents once: parent or parents");
    }
    Yaml above = parents == null ? parent : parents;
    Yaml after = keys.find("after");
    Yaml branch = keys.find("branch");
    Yaml always = keys.find("always");
    return new FileNode.Place(
        above == null ? List.of() : values.names("parents", above),
        after == null ? List.of() : values.names("after", after),
        branch == null ? "" : values.branch(branch),
        always != null && values.bool("always", always));
  }

  private Map<String, JsonNode> data(String type, GraphFile.Keys keys) {
    Set<String> inputs = TypeKeys.inputs(type).orElse(Set.of());
    Map<String, JsonNode> data = new LinkedHashMap<>();
    addProgram(type, keys, data);
    for (String key : inputs.stream().sorted().toList()) {
      if (!key.equals("command") && !key.equals("args") && !key.equals("shell")) {
        put(data, key, keys);
      }
    }
    switch (keys.find("data")) {
      case null -> {}
      case Yaml.Fields more -> addMore(type, more, data);
      case Yaml other -> mistakes.add(other.line(), "data must have keys");
    }
    Set<String> ownForms = new HashSet<>();
    TypeKeys.EITHER.forEach((key, other) -> {
      if (data.containsKey(key) || data.containsKey(other)) {
        ownForms.addAll(List.of(key, other));
      }
    });
    defaults.forEach((key, value) -> {
      if (inputs.contains(key) && !ownForms.contains(key)) {
        data.merge(key, value, (own, common) -> values.merged(key, own, common));
      }
    });
    return data;
  }

  private void addProgram(String type, GraphFile.Keys keys, Map<String, JsonNode> data) {
    Yaml shell = keys.find("shell");
    Yaml command = keys.find("command");
    Yaml args = keys.find("args");
    if (shell != null && command != null) {
      mistakes.add(shell.line(), "a node has shell or command, not both");
    } else if (shell != null) {
      String key = type.equals(TypeKeys.SHELL) ? "command" : "shell";
      data.put(key, values.textNode("shell", shell));
    } else if (command instanceof Yaml.Items line && !type.equals(TypeKeys.SHELL)) {
      values.addCommand(line, args, data);
    } else if (command != null) {
      data.put("command", values.textNode("command", command));
      if (args != null) {
        data.put("args", values.textNodes("args", args));
      }
    } else if (args != null) {
      mistakes.add(args.line(), "args without a command");
    }
  }

  private void addMore(String type, Yaml.Fields more, Map<String, JsonNode> data) {
    for (Yaml.Field field : more.fields()) {
      if (TypeKeys.isOutput(type, field.key())) {
        mistakes.add(field.line(), field.key() + " is written by the node itself");
      } else if (data.putIfAbsent(field.key(), field.value().json()) != null) {
        mistakes.add(field.line(), field.key() + " is given twice");
      }
    }
  }

  /** Reads single values of nodes in the form that the server expects. */
  static final class Values {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final Path folder;
    private final Mistakes mistakes;

    /**
     * With the folder that relative paths refer to.
     *
     * @param mistakes receives the mistakes
     */
    Values(Path folder, Mistakes mistakes) {
      this.folder = folder;
      this.mistakes = mistakes;
    }

    /** A value of a node's data; null if it is invalid. */
    @Nullable JsonNode data(String key, Yaml value) {
      return switch (key) {
        case "retries", "interruptions", "priority_level" -> count(key, value);
        case "backoff", "timeout", "wait_timeout", "total_timeout", "delay", "interval" ->
            seconds(key, value);
        case "at" -> moment(key, value);
        case "cwd", "file" -> path(key, value);
        case "env" -> texts(key, value);
        case "stdin", "port", "queue", "job_type", "description", "priority", "limit_key" ->
            textNode(key, value);
        default -> Policy.Field.of(key).isPresent() ? setting(key, value) : value.json();
      };
    }

    private @Nullable JsonNode moment(String key, Yaml value) {
      String text = text(key, value);
      try {
        TimeText.moment(key, text);
        return JSON.stringNode(text);
      } catch (PolicyException e) {
        wrong(value, String.valueOf(e.getMessage()));
        return null;
      }
    }

    /** A setting of retries or limits; a list stands for its texts with commas. */
    private @Nullable JsonNode setting(String key, Yaml value) {
      String text = String.join(",", names(key, value));
      try {
        var _ = new Policy(Map.of(key, text));
        return JSON.stringNode(text);
      } catch (PolicyException e) {
        wrong(value, String.valueOf(e.getMessage()));
        return null;
      }
    }

    private void wrong(Yaml value, String message) {
      mistakes.add(value.line(), message);
    }

    /** Text exactly as written, so that 007 stays 007; empty if it is invalid. */
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

    /** A list of texts, or a single text. */
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
        wrong(args, "the arguments are already given in command");
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

    /** {@code then} or {@code else}; empty if it is invalid. */
    String branch(Yaml value) {
      String text = text("branch", value);
      if (text.equals("then") || text.equals("else")) {
        return text;
      }
      wrong(value, "branch is then or else, not '" + text + "'");
      return "";
    }

    boolean bool(String key, Yaml value) {
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
        String text = value instanceof Yaml.Scalar one ? one.text() : "";
        return DecimalNode.valueOf(Durations.seconds(new Durations().convert(text)));
      } catch (TypeConversionException _) {
        wrong(value, key + " is a duration such as 30s or 5m, or a number of seconds, not " + json);
        return null;
      }
    }

    private @Nullable JsonNode path(String key, Yaml value) {
      String text = text(key, value);
      try {
        return JSON.stringNode(folder.resolve(text).normalize().toString());
      } catch (InvalidPathException e) {
        wrong(value, key + " is not a path: " + e.getMessage());
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
          mistakes.add(field.line(), field.key() + " is given twice");
        }
        object.put(field.key(), text(field.key(), field.value()));
      }
      return object;
    }

    /** The node's own value, otherwise the default; variables of {@code env} are merged. */
    JsonNode merged(String key, JsonNode own, JsonNode common) {
      if (key.equals("env") && own instanceof ObjectNode mine && common instanceof ObjectNode all) {
        ObjectNode both = all.deepCopy();
        both.setAll(mine);
        return both;
      }
      return own;
    }
  }
}
