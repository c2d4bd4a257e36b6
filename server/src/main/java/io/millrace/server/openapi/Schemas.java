package io.millrace.server.openapi;

import io.millrace.http.json.Json;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The named JSON Schemas of a document, and the short notation in which they are written.
 *
 * <p>A type is a text of this form:
 *
 * <pre>{@code
 * integer 1..100 = 10; how many tasks are returned
 * }</pre>
 *
 * <p>That is a type, a range (of the value of a number or of the length of a text; either end may
 * be left out), a default, and a description; only the type is required. The types are {@code
 * string}, {@code integer}, {@code number}, {@code boolean}, {@code object}, {@code any}, {@code
 * time} (a date and time with an offset), {@code bytes}, a choice of words such as {@code a | b},
 * and the names of other schemas. A type may be followed by {@code []} for a list of it, and then
 * by {@code ?} if it may be null.
 *
 * <p>An object is a mapping with {@code fields}, from names to types; a name that ends with {@code
 * ?} may be absent, or null as well with {@code nulls: absent}. It may have the fields of other
 * schemas too ({@code extends}), and further fields of one type ({@code others}). Every other
 * mapping is JSON Schema, in which types may be written as texts.
 */
final class Schemas {
  private static final Set<String> NUMBERS = Set.of("integer", "number");
  private static final Set<String> CHOICES = Set.of("$ref", "oneOf", "anyOf");
  private static final Pattern TYPE =
      Pattern.compile("(.+?)(?: (-?[0-9.]*?)\\.\\.(-?[0-9.]*))?(?: = (.+))?");
  private static final Pattern CHOICE = Pattern.compile(" \\| ");

  private final Map<String, JsonNode> sources = new LinkedHashMap<>();

  /** Defines a schema by its notation. */
  void define(String name, JsonNode source) {
    if (sources.put(name, source) != null) {
      throw new IllegalStateException("there are two schemas " + name);
    }
  }

  /** All schemas by name, as JSON Schema. */
  ObjectNode all() {
    ObjectNode all = Json.object();
    sources.forEach((name, source) -> all.set(name, of(source)));
    return all;
  }

  /** A defined schema, as JSON Schema. */
  ObjectNode named(String name) {
    return of(Objects.requireNonNull(sources.get(name), name));
  }

  /** The JSON Schema of a notation. */
  ObjectNode of(JsonNode source) {
    if (source.isString()) {
      return ofText(source.asString());
    }
    if (!(source instanceof ObjectNode mapping)) {
      throw new IllegalStateException("not a type: " + source);
    }
    ObjectNode schema = Json.object();
    mapping.forEachEntry((key, value) -> {
      switch (key) {
        case "fields" -> schema.put("type", "object");
        case "extends", "nulls", "others" -> {}
        case "items", "additionalProperties" ->
            schema.set(key, value.isBoolean() ? value : of(value));
        case "oneOf", "anyOf" -> schema.set(key, Json.array(value.values(), this::of));
        default -> schema.set(key, value);
      }
    });
    if (mapping.has("fields")) {
      addFields(mapping, schema);
    }
    if (mapping.has("others")) {
      schema.set("additionalProperties", of(mapping.get("others")));
    }
    return schema;
  }

  private void addFields(ObjectNode mapping, ObjectNode schema) {
    ObjectNode properties = Json.object();
    ArrayNode required = Json.array();
    collect(mapping, properties, required);
    schema.set("properties", properties);
    if (!required.isEmpty()) {
      schema.set("required", required);
    }
  }

  private void collect(JsonNode mapping, ObjectNode properties, ArrayNode required) {
    for (JsonNode other : mapping.path("extends")) {
      JsonNode source = sources.get(other.asString());
      if (source == null) {
        throw new IllegalStateException("there is no schema " + other.asString());
      }
      collect(source, properties, required);
    }
    mapping
        .path("fields")
        .forEachEntry((key, value) -> {
          boolean optional = key.endsWith("?");
          String name = optional ? key.substring(0, key.length() - 1) : key;
          ObjectNode type = of(value);
          properties.set(name, optional && mapping.has("nulls") ? orNull(type) : type);
          if (!optional) {
            required.add(name);
          }
        });
  }

  private ObjectNode ofText(String text) {
    int end = text.indexOf("; ");
    Matcher parts = TYPE.matcher(end < 0 ? text : text.substring(0, end));
    if (!parts.matches()) {
      throw new IllegalStateException("not a type: " + text);
    }
    ObjectNode schema = type(parts.group(1));
    String kind = kind(schema.path("type"));
    limit(schema, kind, true, parts.group(2));
    limit(schema, kind, false, parts.group(3));
    if (parts.group(4) != null) {
      schema.set("default", value(kind, parts.group(4)));
    }
    if (end >= 0) {
      schema.put("description", text.substring(end + 2));
    }
    return schema;
  }

  /** The type of a schema, even if it may be null too; empty for a reference or any type. */
  private static String kind(JsonNode type) {
    return type.isArray() ? type.get(0).asString() : type.asString("");
  }

  private static void limit(ObjectNode schema, String kind, boolean least, @Nullable String limit) {
    if (limit != null && !limit.isEmpty()) {
      boolean number = NUMBERS.contains(kind);
      String word = number ? "imum" : kind.equals("array") ? "Items" : "Length";
      schema.set((least ? "min" : "max") + word, value(number ? kind : "integer", limit));
    }
  }

  private static JsonNode value(String kind, String text) {
    return kind.equals("string") || kind.isEmpty()
        ? Json.MAPPER.valueToTree(text)
        : Json.MAPPER.readTree(text);
  }

  private ObjectNode type(String text) {
    if (text.endsWith("?")) {
      return orNull(type(text.substring(0, text.length() - 1)));
    }
    if (text.endsWith("[]")) {
      ObjectNode list = Json.object().put("type", "array");
      return list.set("items", type(text.substring(0, text.length() - 2)));
    }
    String[] choice = CHOICE.split(text);
    if (choice.length > 1) {
      ArrayNode words = Json.array();
      Arrays.stream(choice).forEach(words::add);
      return Json.object().put("type", "string").set("enum", words);
    }
    return switch (text) {
      case "any" -> Json.object();
      case "string", "number", "boolean", "object" -> Json.object().put("type", text);
      case "integer" -> Json.object().put("type", text).put("format", "int64");
      case "time" -> Json.object().put("type", "string").put("format", "date-time");
      case "bytes" -> Json.object().put("type", "string").put("format", "binary");
      default -> reference(text);
    };
  }

  private ObjectNode reference(String name) {
    if (!sources.containsKey(name)) {
      throw new IllegalStateException("there is no type " + name);
    }
    return Json.object().put("$ref", "#/components/schemas/" + name);
  }

  private static ObjectNode orNull(ObjectNode schema) {
    if (!schema.has("type") && schema.propertyNames().stream().noneMatch(CHOICES::contains)) {
      return schema;
    }
    if (!schema.has("type")) {
      ArrayNode choice = Json.array().add(schema).add(Json.object().put("type", "null"));
      return Json.object().set("anyOf", choice);
    }
    schema.set("type", Json.array().add(schema.get("type")).add("null"));
    if (schema.get("enum") instanceof ArrayNode words) {
      words.addNull();
    }
    return schema;
  }
}
