package io.millrace.cli.graph.file;

import io.millrace.server.config.EditDistance;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads the nodes of a file one by one. */
final class NodeReader {
  private static final int LONGEST_NAME = 128;
  private static final List<String> OWN =
      List.of("type", "name", "parent", "parents", "after", "branch", "always", "data");
  private static final List<String> DEFAULTS =
      List.of("env", "cwd", "retries", "backoff", "timeout");

  private final Values values;
  private final List<Mistake> mistakes;
  private final Map<String, JsonNode> defaults = new LinkedHashMap<>();

  /**
   * With what holds for all nodes that do not say otherwise.
   *
   * @param given null for nothing
   */
  NodeReader(Path folder, @Nullable Yaml given, List<Mistake> mistakes) {
    this.mistakes = mistakes;
    values = new Values(folder, mistakes);
    if (given instanceof Yaml.Fields fields) {
      Keys keys = new Keys(fields, "defaults", DEFAULTS, mistakes);
      DEFAULTS.forEach(key -> put(defaults, key, keys));
    } else if (given != null) {
      mistakes.add(new Mistake(given.line(), "defaults must have keys of its own, as env"));
    }
  }

  private void put(Map<String, JsonNode> data, String key, Keys keys) {
    Yaml value = keys.find(key);
    JsonNode json = value == null ? null : values.data(key, value);
    if (json != null) {
      data.put(key, json);
    }
  }

  /** The node; one with mistakes is incomplete. */
  FileNode read(Yaml.Field field) {
    String name = field.key();
    if (!(field.value() instanceof Yaml.Fields given)) {
      mistakes.add(
          new Mistake(
              field.value().line(),
              "the node '" + name + "' must have keys of its own, as 'shell: echo hello'"));
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
    Keys keys = new Keys(given, what, known, mistakes);
    Map<String, JsonNode> data = data(type, keys);
    if (mistakes.size() == before) {
      TypeKeys.mistake(type, data.keySet())
          .ifPresent(
              wrong -> mistakes.add(new Mistake(field.line(), "the node '" + name + "' " + wrong)));
    }
    return new FileNode(name, field.line(), name(name, keys), type, place(keys), data);
  }

  /** What it says, or else what the keys of its data imply. */
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
      mistakes.add(
          new Mistake(line, "the node '" + name + "' has neither shell nor command nor type"));
      return "";
    }
    return shell != null ? TypeKeys.SHELL : TypeKeys.COMMAND;
  }

  private String checkedType(String type, Yaml.Fields given, int line) {
    if (TypeKeys.inputs(type).isEmpty()) {
      boolean guessed = given.fields().stream().anyMatch(field -> !OWN.contains(field.key()));
      if (guessed) {
        mistakes.add(
            new Mistake(
                line,
                "the type '"
                    + type
                    + "' is not known here; did you mean "
                    + EditDistance.nearest(type, TypeKeys.types())
                    + "? The data of others goes below data"));
      }
    }
    return type;
  }

  private String name(String key, Keys keys) {
    Yaml given = keys.find("name");
    String name = given == null ? key : values.text("name", given);
    if (name.length() > LONGEST_NAME && given != null) {
      mistakes.add(new Mistake(given.line(), "a name has at most " + LONGEST_NAME + " characters"));
    }
    return name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) : name;
  }

  private FileNode.Place place(Keys keys) {
    Yaml parent = keys.find("parent");
    Yaml parents = keys.find("parents");
    if (parent != null && parents != null) {
      mistakes.add(new Mistake(parents.line(), "name the parents once: parent or parents"));
    }
    Yaml above = parents == null ? parent : parents;
    Yaml after = keys.find("after");
    Yaml branch = keys.find("branch");
    Yaml always = keys.find("always");
    return new FileNode.Place(
        above == null ? List.of() : values.names("parents", above),
        after == null ? List.of() : values.names("after", after),
        branch == null ? "" : values.branch(branch),
        always != null && values.truth("always", always));
  }

  private Map<String, JsonNode> data(String type, Keys keys) {
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
      case Yaml other -> mistakes.add(new Mistake(other.line(), "data must have keys of its own"));
    }
    defaults.forEach((key, value) -> {
      if (inputs.contains(key)) {
        data.merge(key, value, (own, common) -> values.merged(key, own, common));
      }
    });
    return data;
  }

  private void addProgram(String type, Keys keys, Map<String, JsonNode> data) {
    Yaml shell = keys.find("shell");
    Yaml command = keys.find("command");
    Yaml args = keys.find("args");
    if (shell != null && command != null) {
      mistakes.add(new Mistake(shell.line(), "a node has shell or command, not both"));
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
      mistakes.add(new Mistake(args.line(), "there are args, and no command"));
    }
  }

  private void addMore(String type, Yaml.Fields more, Map<String, JsonNode> data) {
    for (Yaml.Field field : more.fields()) {
      if (TypeKeys.isOutput(type, field.key())) {
        mistakes.add(new Mistake(field.line(), field.key() + " is written by the node itself"));
      } else if (data.putIfAbsent(field.key(), field.value().json()) != null) {
        mistakes.add(new Mistake(field.line(), field.key() + " is given twice"));
      }
    }
  }
}
