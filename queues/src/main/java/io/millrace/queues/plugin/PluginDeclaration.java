package io.millrace.queues.plugin;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The params that a plugin declares to take. Its JSON is an object with {@code params}, a list of
 * objects with {@code name}, {@code type}, {@code required} and {@code description}, of which only
 * the name is needed. Immutable.
 *
 * @param params in the order in which they are declared; at most {@value #MAX_PARAMS}
 */
public record PluginDeclaration(List<Param> params) {
  /** The most params of a plugin. */
  public static final int MAX_PARAMS = 100;

  private static final int MAX_NAME = 100;
  private static final int MAX_DESCRIPTION = 500;
  private static final JsonMapper MAPPER = JsonMapper.shared();
  private static final Set<String> FIELDS = Set.of("name", "type", "required", "description");

  /**
   * Checks the params.
   *
   * @throws IllegalArgumentException if there are too many, or if two have the same name
   */
  public PluginDeclaration {
    params = List.copyOf(params);
    if (params.size() > MAX_PARAMS) {
      throw new IllegalArgumentException(
          "a plugin declares at most " + MAX_PARAMS + " params, not " + params.size());
    }
    Set<String> names = new HashSet<>();
    for (Param param : params) {
      if (!names.add(param.name())) {
        throw new IllegalArgumentException("the param " + param.name() + " is declared twice");
      }
    }
  }

  /** What the value of a param has to be. Null is as if the param were absent. */
  public enum ParamType {
    /** Any value. */
    ANY,
    /** A string, a number, true or false. */
    TEXT,
    /** A string. */
    STRING,
    /** A number. */
    NUMBER,
    /** A whole number. */
    INTEGER,
    /** True or false. */
    BOOLEAN,
    /** A list. */
    ARRAY,
    /** An object. */
    OBJECT;

    /** Its name in JSON. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    private static ParamType of(String word) {
      for (ParamType type : values()) {
        if (type.word().equals(word)) {
          return type;
        }
      }
      throw new IllegalArgumentException("there is no type \"" + word + "\" of params");
    }

    private boolean accepts(JsonNode value) {
      return switch (this) {
        case ANY -> true;
        case TEXT -> value.isString() || value.isNumber() || value.isBoolean();
        case STRING -> value.isString();
        case NUMBER -> value.isNumber();
        case INTEGER -> value.isIntegralNumber();
        case BOOLEAN -> value.isBoolean();
        case ARRAY -> value.isArray();
        case OBJECT -> value.isObject();
      };
    }
  }

  /**
   * A param.
   *
   * @param name 1 to 100 characters
   * @param type what its value has to be
   * @param required whether every task needs it
   * @param description for people, at most 500 characters; empty for none
   */
  public record Param(String name, ParamType type, boolean required, String description) {
    /**
     * Checks the lengths.
     *
     * @throws IllegalArgumentException if one is out of range
     */
    public Param {
      if (name.isEmpty() || name.length() > MAX_NAME) {
        throw new IllegalArgumentException(
            "the name of a param has 1 to " + MAX_NAME + " characters");
      }
      if (description.length() > MAX_DESCRIPTION) {
        throw new IllegalArgumentException(
            "the description of a param has at most " + MAX_DESCRIPTION + " characters");
      }
    }

    /** One that is not required. */
    static Param of(String name, ParamType type, String description) {
      return new Param(name, type, false, description);
    }
  }

  /** What a class declares with annotations; empty if it declares nothing. */
  public static Optional<PluginDeclaration> of(Class<?> plugin) {
    PluginParams all = plugin.getAnnotation(PluginParams.class);
    PluginParam[] params = plugin.getAnnotationsByType(PluginParam.class);
    if (all == null && params.length == 0) {
      return Optional.empty();
    }
    List<Param> declared = new ArrayList<>();
    for (PluginParam each : params) {
      declared.add(new Param(each.name(), each.type(), each.required(), each.description()));
    }
    return Optional.of(new PluginDeclaration(declared));
  }

  /**
   * Reads a declaration.
   *
   * @throws IllegalArgumentException saying what is wrong with it
   */
  public static PluginDeclaration parse(byte[] json) {
    try {
      return read(MAPPER.readTree(json));
    } catch (JacksonException e) {
      throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  /**
   * Reads a declaration.
   *
   * @throws IllegalArgumentException saying what is wrong with it
   */
  public static PluginDeclaration read(JsonNode json) {
    if (!json.isObject() || !json.path("params").isArray() || json.size() != 1) {
      throw new IllegalArgumentException("a declaration is an object with the list params alone");
    }
    if (json.path("params").size() > MAX_PARAMS) {
      throw new IllegalArgumentException("a plugin declares at most " + MAX_PARAMS + " params");
    }
    List<Param> params = new ArrayList<>();
    for (JsonNode each : json.path("params")) {
      if (!each.isObject() || !each.path("name").isString()) {
        throw new IllegalArgumentException("each of the params is an object with a name");
      }
      for (String field : each.propertyNames()) {
        if (!FIELDS.contains(field)) {
          throw new IllegalArgumentException("a declared param has no field \"" + field + "\"");
        }
      }
      JsonNode type = each.path("type");
      JsonNode required = each.path("required");
      JsonNode description = each.path("description");
      if (!(type.isMissingNode() || type.isString())
          || !(required.isMissingNode() || required.isBoolean())
          || !(description.isMissingNode() || description.isString())) {
        throw new IllegalArgumentException(
            "type and description of a param are strings, and required is true or false");
      }
      params.add(
          new Param(
              each.path("name").asString(),
              type.isMissingNode() ? ParamType.ANY : ParamType.of(type.asString()),
              required.asBoolean(false),
              description.asString("")));
    }
    return new PluginDeclaration(params);
  }

  /** Its JSON. */
  public ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode();
    ArrayNode list = json.putArray("params");
    for (Param param : params) {
      ObjectNode one = list.addObject().put("name", param.name()).put("type", param.type().word());
      one.put("required", param.required());
      if (!param.description().isEmpty()) {
        one.put("description", param.description());
      }
    }
    return json;
  }

  /**
   * What is wrong with the params of a task.
   *
   * @param plugin the name of the plugin
   * @param ignored names that are accepted though they are not declared
   * @return empty if the plugin takes them
   */
  public Optional<String> problem(String plugin, ObjectNode given, Predicate<String> ignored) {
    for (Map.Entry<String, JsonNode> each : given.properties()) {
      Param param =
          params.stream()
              .filter(declared -> declared.name().equals(each.getKey()))
              .findFirst()
              .orElse(null);
      if (param == null) {
        if (ignored.test(each.getKey())) {
          continue;
        }
        List<String> names = params.stream().map(Param::name).sorted().toList();
        return Optional.of(
            "plugin %s has no param \"%s\", %s"
                .formatted(
                    plugin,
                    each.getKey(),
                    names.isEmpty() ? "and no params at all" : "only " + String.join(", ", names)));
      }
      if (!each.getValue().isNull() && !param.type().accepts(each.getValue())) {
        return Optional.of(
            "param \"%s\" of plugin %s must be %s"
                .formatted(param.name(), plugin, described(param.type())));
      }
    }
    return params.stream()
        .filter(param -> param.required() && !given.hasNonNull(param.name()))
        .findFirst()
        .map(param -> "plugin %s needs the param \"%s\"".formatted(plugin, param.name()));
  }

  private static String described(ParamType type) {
    return switch (type) {
      case ANY -> "any value";
      case TEXT -> "a string, a number, true or false";
      case STRING -> "a string";
      case NUMBER -> "a number";
      case INTEGER -> "an integer";
      case BOOLEAN -> "true or false";
      case ARRAY -> "a list";
      case OBJECT -> "an object";
    };
  }
}
