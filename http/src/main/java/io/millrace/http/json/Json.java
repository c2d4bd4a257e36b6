package io.millrace.http.json;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.wire.JsonErrors;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON for all APIs except the task store's, which uses {@link io.millrace.wire}. Reading is
 * strict: it refuses repeated fields, text after the value, and nesting and numbers that are too
 * large to be stored. Fractions keep their digits as they were sent. Thread-safe.
 */
public final class Json {
  /** The usual limit of a JSON body, in bytes. */
  public static final int MAX_BYTES = 1 << 20;

  /** Values are stored one or two levels deeper, and must be readable there too. */
  private static final int MAX_LEVELS = 200;

  /** The mapper. It does not close the streams to which it writes. */
  public static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MAX_LEVELS)
                          // Bodies have a limit of their own.
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .nodeFactory(new Decimals())
          .build();

  private Json() {}

  /** An empty object. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** An empty array. */
  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** An array of the items, each converted by {@code toJson}. */
  public static <T> ArrayNode array(Collection<T> items, Function<T, JsonNode> toJson) {
    return array().addAll(items.stream().map(toJson).toList());
  }

  /** A value as UTF-8 text. */
  public static byte[] bytes(JsonNode json) {
    return MAPPER.writeValueAsBytes(json);
  }

  /** A response with status 200 and a value. */
  public static Response.Whole response(JsonNode json) {
    return Response.json(bytes(json));
  }

  /** A response with a value. */
  public static Response.Whole response(int status, JsonNode json) {
    return Response.json(status, bytes(json));
  }

  /** A response with further headers and a value. */
  public static Response.Whole response(int status, Map<String, String> headers, JsonNode json) {
    return new Response.Whole(status, Response.JSON, headers, bytes(json));
  }

  /**
   * Reads a value.
   *
   * @throws JacksonException if the text is not JSON, or has a number that is too large
   */
  public static JsonNode read(byte[] text) {
    try {
      return MAPPER.readTree(text);
    } catch (NumberFormatException e) {
      throw new StreamReadException(null, Decimals.TOO_LARGE, e);
    }
  }

  /**
   * Checks the current number of a parser.
   *
   * @throws StreamReadException if it is too large
   */
  public static void checkNumber(JsonParser json) {
    try {
      Decimals.check(json.getDecimalValue(), json);
    } catch (NumberFormatException e) {
      throw new StreamReadException(json, Decimals.TOO_LARGE, e);
    }
  }

  /**
   * Reads a body that must be JSON whose texts and numbers can be stored.
   *
   * @throws HttpProblem 400 if it is not, 413 if it is longer than the server's limit
   * @throws IOException if the client stops sending
   */
  public static JsonNode body(Request request) throws IOException {
    JsonNode body = parsed(request.jsonBody());
    check(body);
    return body;
  }

  /**
   * The same as {@link #body}, for a body that must be an object.
   *
   * @throws HttpProblem 400 if it is not, 413 if it is longer than the server's limit
   * @throws IOException if the client stops sending
   */
  public static ObjectNode objectBody(Request request) throws IOException {
    return object(body(request));
  }

  /**
   * Reads a body of at most {@code maxBytes} bytes that must be an object; its values are not
   * checked.
   */
  public static ObjectNode objectBody(Request request, int maxBytes) throws IOException {
    return object(parsed(request.body(maxBytes)));
  }

  private static JsonNode parsed(byte[] body) {
    try {
      return read(body);
    } catch (JacksonException e) {
      throw HttpProblem.malformed("the body is not JSON: " + JsonErrors.message(e));
    }
  }

  private static ObjectNode object(JsonNode body) {
    if (body instanceof ObjectNode object) {
      return object;
    }
    throw HttpProblem.malformed("the body must be a JSON object");
  }

  private static void check(JsonNode value) {
    switch (value) {
      case ObjectNode object ->
          object
              .properties()
              .forEach(field -> {
                checkText(field.getKey());
                check(field.getValue());
              });
      case ArrayNode array -> array.forEach(Json::check);
      default -> {
        if (value.isString()) {
          checkText(value.asString());
        } else if (value.isNumber() && isTooLarge(value.decimalValue())) {
          throw HttpProblem.malformed("the body has a number that is too large: " + value);
        }
      }
    }
  }

  /** Whether the number is beyond the range of a double, which is what most programs read it as. */
  private static boolean isTooLarge(BigDecimal number) {
    return Double.isInfinite(number.doubleValue());
  }

  private static void checkText(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw HttpProblem.malformed("a text of the body contains half of a surrogate pair");
    }
  }

  /**
   * Refuses unknown fields, for example misspelt ones.
   *
   * @param what the name of the object, for the message
   * @throws HttpProblem 400 if there is one
   */
  public static void checkFields(String what, ObjectNode object, Set<String> known) {
    for (String name : object.propertyNames()) {
      if (!known.contains(name)) {
        throw HttpProblem.malformed(
            what
                + " has no field \""
                + name
                + "\", only "
                + String.join(", ", new TreeSet<>(known)));
      }
    }
  }

  /**
   * A string; null if it is absent or null.
   *
   * @param what the name of the field, for the message
   * @throws HttpProblem 400 if it is something else
   */
  public static @Nullable String text(String what, @Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw HttpProblem.malformed(what + " must be a string, not " + shortened(value));
    }
    return value.asString();
  }

  /** A value for an error message, cut to 60 characters. */
  public static String shortened(JsonNode value) {
    String text = value.toString();
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }

  /**
   * Fractions with all their digits; only the spelling of the exponent may change. The exponent is
   * limited: one beyond some millions could not be read again, and arithmetic with it would not
   * end.
   */
  private static final class Decimals extends JsonNodeFactory {
    private static final int MAX_EXPONENT = 9_999;
    private static final String TOO_LARGE = "a number has an exponent beyond " + MAX_EXPONENT;

    @Override
    public DecimalNode numberNode(@Nullable BigDecimal value) {
      check(value, null);
      return (DecimalNode) super.numberNode(value);
    }

    private static void check(@Nullable BigDecimal value, @Nullable JsonParser json) {
      if (value != null && Math.abs((long) value.precision() - value.scale()) > MAX_EXPONENT) {
        throw new StreamReadException(json, TOO_LARGE);
      }
    }
  }
}
