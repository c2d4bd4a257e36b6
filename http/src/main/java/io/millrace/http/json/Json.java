package io.millrace.http.json;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
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
 * The JSON of all APIs but the task store's, whose forms are those of {@link io.millrace.wire}.
 * Reading is strict: no field twice, nothing after the value, no depth and no number that could not
 * be kept. Fractions keep the digits that they were sent with.
 */
public final class Json {
  /** The longest body that is JSON, for routes that have no reason for another limit, in bytes. */
  public static final int MOST_BYTES = 1 << 20;

  /** What is read is stored a level or two deeper, and must be readable there. */
  private static final int MOST_LEVELS = 200;

  /** Reads and writes; it leaves the streams that it writes to open. */
  public static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MOST_LEVELS)
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

  /** An array of the shapes of these items. */
  public static <T> ArrayNode array(Collection<T> items, Function<T, JsonNode> shape) {
    return array().addAll(items.stream().map(shape).toList());
  }

  /** The text of a value. */
  public static byte[] bytes(JsonNode json) {
    return MAPPER.writeValueAsBytes(json);
  }

  /** 200 with a value. */
  public static Reply.Whole reply(JsonNode json) {
    return Reply.json(bytes(json));
  }

  /** A value under another status. */
  public static Reply.Whole reply(int status, JsonNode json) {
    return Reply.json(status, bytes(json));
  }

  /** A value with further headers. */
  public static Reply.Whole reply(int status, Map<String, String> headers, JsonNode json) {
    return new Reply.Whole(status, Reply.JSON, headers, bytes(json));
  }

  /**
   * Reads a value.
   *
   * @throws JacksonException if the text is no JSON, or has a number that cannot be kept
   */
  public static JsonNode read(byte[] text) {
    try {
      return MAPPER.readTree(text);
    } catch (NumberFormatException e) {
      throw new StreamReadException(null, Decimals.TOO_LARGE, e);
    }
  }

  /**
   * Checks the number that a parser stands on.
   *
   * @throws StreamReadException if it cannot be kept
   */
  public static void checkNumber(JsonParser json) {
    try {
      Decimals.check(json.getDecimalValue(), json);
    } catch (NumberFormatException e) {
      throw new StreamReadException(json, Decimals.TOO_LARGE, e);
    }
  }

  /**
   * The value that a body is, checked for what could not be kept.
   *
   * @throws HttpProblem 400 if it is no JSON, 413 if it is longer than the server's limit
   * @throws IOException if the client stops sending
   */
  public static JsonNode body(Request request) throws IOException {
    JsonNode body = parsed(request.jsonBody());
    check(body);
    return body;
  }

  /**
   * The object that a body is, checked for what could not be kept.
   *
   * @throws HttpProblem 400 if it is no JSON object, 413 if it is longer than the server's limit
   * @throws IOException if the client stops sending
   */
  public static ObjectNode objectBody(Request request) throws IOException {
    return object(body(request));
  }

  /** The object that a body of at most so many bytes is. */
  public static ObjectNode objectBody(Request request, int mostBytes) throws IOException {
    return object(parsed(request.body(mostBytes)));
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
          throw HttpProblem.malformed("the body holds a number that is too large: " + value);
        }
      }
    }
  }

  /** Beyond what others that read it can hold. */
  private static boolean isTooLarge(BigDecimal number) {
    return Double.isInfinite(number.doubleValue());
  }

  private static void checkText(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw HttpProblem.malformed("the body holds a half of a surrogate pair in a text");
    }
  }

  /**
   * Refuses fields that are not read, such as one with a misspelt name.
   *
   * @param what has these fields, for people
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
   * @param what the field is, for people
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

  /** A value in an error, cut if it is long. */
  public static String shortened(JsonNode value) {
    String text = value.toString();
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }

  /**
   * Fractions with all their digits, as they were written but for the spelling of the exponent,
   * which is limited: beyond some millions it could not be read again, and arithmetic on it takes
   * for ever.
   */
  private static final class Decimals extends JsonNodeFactory {
    private static final int MOST_EXPONENT = 9_999;
    private static final String TOO_LARGE =
        "a number has an exponent beyond " + MOST_EXPONENT + ", which cannot be kept";

    @Override
    public DecimalNode numberNode(@Nullable BigDecimal value) {
      check(value, null);
      return (DecimalNode) super.numberNode(value);
    }

    private static void check(@Nullable BigDecimal value, @Nullable JsonParser json) {
      if (value != null && Math.abs((long) value.precision() - value.scale()) > MOST_EXPONENT) {
        throw new StreamReadException(json, TOO_LARGE);
      }
    }
  }
}
