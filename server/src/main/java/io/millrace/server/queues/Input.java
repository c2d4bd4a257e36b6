package io.millrace.server.queues;

import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.queues.ObjectId;
import io.millrace.wire.JsonErrors;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The parameters of a request: a JSON object, a form or the query string, by content type. Values
 * of a form or a query are strings, or arrays of strings if a name is repeated.
 */
public record Input(ObjectNode values, boolean form) {
  private static final String FORM = "application/x-www-form-urlencoded";

  /**
   * Reads the input.
   *
   * @throws Refusal if the body is not a JSON object
   */
  static Input of(Request request) throws IOException {
    return of(request, request.hasBody() ? request.jsonBody() : new byte[0]);
  }

  /**
   * The same for a request whose body has been read.
   *
   * @throws HttpProblem 400 if the body is not a JSON object
   */
  public static Input of(Request request, byte[] body) {
    if (!request.hasBody()) {
      return new Input(fromForm(request.query()), true);
    }
    if (isForm(request, body)) {
      return new Input(fromForm(Query.parse(new String(body, StandardCharsets.ISO_8859_1))), true);
    }
    try {
      if (Json.read(body) instanceof ObjectNode object) {
        return new Input(object, false);
      }
    } catch (JacksonException e) {
      throw Refusal.of("the body is not JSON: " + JsonErrors.message(e));
    }
    throw Refusal.of("the body must be a JSON object");
  }

  /** The same with one parameter under another name. */
  Input renamed(String name, String newName) {
    ObjectNode renamed = Json.object();
    renamed.set(newName, values.get(name));
    return new Input(renamed, form);
  }

  /** Whether a value unsets a field: null, or in a form, which has no null, an empty text. */
  boolean isUnset(JsonNode value) {
    return value.isNull() || (form && value.isString() && value.asString().isEmpty());
  }

  /** Whether a body is a form. A body that begins like JSON is not, whatever its type says. */
  static boolean isForm(Request request, byte[] body) {
    boolean json = body.length > 0 && (body[0] == '{' || body[0] == '[');
    return request.mediaType().equals(FORM) && !json;
  }

  private static ObjectNode fromForm(Query query) {
    ObjectNode values = Json.object();
    for (String name : query.names()) {
      List<String> texts = query.texts(name);
      if (texts.size() == 1) {
        values.put(name, texts.getFirst());
      } else {
        values.set(name, Shapes.strings(texts));
      }
    }
    return values;
  }

  /** All parameters. */
  public ObjectNode all() {
    return values;
  }

  boolean isEmpty() {
    return values.isEmpty();
  }

  /** The value of a parameter; null if it is absent. */
  @Nullable JsonNode get(String name) {
    return values.get(name);
  }

  /** Whether it is present and not null. */
  boolean has(String name) {
    return values.hasNonNull(name);
  }

  /** Refuses other parameters. */
  void allow(Set<String> names, String error) {
    for (String name : values.propertyNames()) {
      if (!names.contains(name)) {
        throw Refusal.of(error, "param", name);
      }
    }
  }

  /**
   * The settings among the parameters as text: numbers as they are, arrays of strings with commas,
   * empty for those that are to be taken away.
   */
  Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    for (String name : values.propertyNames()) {
      JsonNode value = values.get(name);
      if (Policy.Field.of(name).isPresent() && value != null) {
        settings.put(name, setting(name, value));
      }
    }
    return settings;
  }

  private String setting(String name, JsonNode value) {
    if (isUnset(value)) {
      return "";
    }
    if (value.isNumber()) {
      return value.decimalValue().toPlainString();
    }
    if (value.isArray()) {
      return String.join(",", texts(name, value));
    }
    if (!value.isString() || value.asString().isEmpty()) {
      throw Refusal.of(name + " must be a number, a text or an array of texts", name, value);
    }
    return value.asString();
  }

  /** A string that is not empty; empty if it is absent, null or empty itself. */
  String text(String name) {
    JsonNode value = values.get(name);
    if (value == null || value.isNull()) {
      return "";
    }
    if (!value.isString()) {
      throw Refusal.of(name + " must be a string", name, value);
    }
    return value.asString();
  }

  /** An integer from 0, as a number or its digits; null if it is absent or unset. */
  public @Nullable Integer count(String name, String error) {
    JsonNode value = values.get(name);
    if (value == null || isUnset(value)) {
      return null;
    }
    if (value.isIntegralNumber() && value.canConvertToInt() && value.intValue() >= 0) {
      return value.intValue();
    }
    if (value.isString() && value.asString().matches("[0-9]{1,9}")) {
      return Integer.valueOf(value.asString());
    }
    throw Refusal.of(error, name, value);
  }

  /**
   * An array of strings, its JSON text, or one string; none if it is absent or null.
   *
   * @throws Refusal if it is something else, or one of several is empty
   */
  List<String> strings(String name) {
    return texts(name, values.get(name));
  }

  /** The same for a value. */
  static List<String> texts(String name, @Nullable JsonNode given) {
    if (given == null || given.isNull()) {
      return List.of();
    }
    JsonNode value = array(given);
    if (value.isString()) {
      return value.asString().isEmpty() ? List.of() : List.of(value.asString());
    }
    if (!value.isArray()) {
      throw Refusal.of(name + " must be an array of strings", name, value);
    }
    List<String> strings = new ArrayList<>();
    for (JsonNode each : value) {
      if (!each.isString() || each.asString().isEmpty()) {
        throw Refusal.of(name + " must be an array of strings, none of them empty", name, value);
      }
      strings.add(each.asString());
    }
    return strings;
  }

  /** The array in a text of JSON; any other value as it is. */
  static JsonNode array(JsonNode value) {
    boolean text = value.isString() && value.asString().startsWith("[");
    return text && decoded(value) instanceof ArrayNode array ? array : value;
  }

  /** Whether a value is true: not 0, empty, null, {@code false} or {@code "0"}. */
  public boolean bool(String name, boolean absent) {
    JsonNode value = values.get(name);
    if (value == null || value.isNull()) {
      return absent;
    }
    if (value.isString()) {
      return !Set.of("", "0", "false").contains(value.asString());
    }
    return value.isBoolean()
        ? value.booleanValue()
        : !value.isNumber() || value.decimalValue().signum() != 0;
  }

  /**
   * An object, given as JSON or as a text of it; an empty one if it is absent or null.
   *
   * @throws Refusal with {@code error} if it is something else
   */
  public ObjectNode object(String name, String error) {
    JsonNode value = values.get(name);
    if (value == null || value.isNull()) {
      return Json.object();
    }
    if (decoded(value) instanceof ObjectNode object) {
      return object;
    }
    throw Refusal.of(error, name, value);
  }

  /** A value, or the JSON in its text; null if the text is not JSON. */
  static @Nullable JsonNode decoded(JsonNode value) {
    if (!value.isString()) {
      return value;
    }
    try {
      return Json.read(value.asString().getBytes(StandardCharsets.UTF_8));
    } catch (JacksonException _) {
      return null;
    }
  }

  /** The id in a parameter or path. */
  static ObjectId id(String field, String text, String error) {
    if (!ObjectId.isValid(text)) {
      throw Refusal.of(error, field, JsonNodeFactory.instance.stringNode(text));
    }
    return new ObjectId(text);
  }
}
