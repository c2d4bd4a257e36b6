package io.millrace.wire;

import io.millrace.store.Bytes;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonReadContext;

/**
 * A strict reader of a JSON text. Its methods read the current value. If that is not what the
 * caller expects, they throw a {@link WireException} that names the path of the value.
 */
final class JsonInput {
  private final JsonParser json;
  private int maxElements = Integer.MAX_VALUE;
  private int elements;

  private JsonInput(JsonParser json) {
    this.json = json;
  }

  /**
   * Reads a text that is exactly one JSON value.
   *
   * @throws WireException if it is not JSON, or {@code form} does not accept it
   */
  static <T> T read(byte[] text, Function<JsonInput, T> form) {
    try (JsonParser json = JsonText.FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (json.nextToken() == null) {
        throw new WireException("expected JSON, found nothing");
      }
      T value = form.apply(new JsonInput(json));
      if (json.nextToken() != null) {
        throw new WireException("unexpected text after the JSON value");
      }
      return value;
    } catch (JacksonException e) {
      throw new WireException("malformed JSON: " + JsonErrors.message(e), e);
    }
  }

  /** Enters an object and moves to its first field, as {@link #field} does. */
  @Nullable String object() {
    expect(JsonToken.START_OBJECT, "an object");
    return field();
  }

  /**
   * Reads a list.
   *
   * @throws WireException.TooManyParts if the lists have more elements than {@link #limitElements}
   *     allows
   */
  <T> List<T> list(Function<JsonInput, T> element) {
    expect(JsonToken.START_ARRAY, "a list");
    List<T> list = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (elements++ == maxElements) {
        throw new WireException.TooManyParts(maxElements);
      }
      list.add(element.apply(this));
    }
    return list;
  }

  /**
   * Moves to the value of the next field of the object; fields that are null are skipped.
   *
   * @return the name of the field in lower case, because names are matched without regard to case;
   *     null at the end of the object
   */
  @Nullable String field() {
    while (true) {
      String name = json.nextName();
      if (name == null) {
        return null;
      }
      String known = lowerCase(name);
      if (!known.equals(name)) {
        checkFirst(known);
      }
      if (json.nextToken() != JsonToken.VALUE_NULL) {
        return known;
      }
    }
  }

  /**
   * Refuses a field that was given before in another case. The parser detects a repeated name
   * itself. This method adds the name in lower case to the parser's set, so that both orders are
   * found.
   */
  private void checkFirst(String known) {
    if (json.streamReadContext() instanceof JsonReadContext object
        && object.getDupDetector().isDup(known)) {
      throw new WireException("malformed JSON: the field " + path() + " is given twice");
    }
  }

  /** Limits the number of elements of all lists that are read from now on, taken together. */
  void limitElements(int max) {
    maxElements = max;
  }

  /** Whether this value is null. */
  boolean isNull() {
    return json.currentToken() == JsonToken.VALUE_NULL;
  }

  /** Whether this value is a number. */
  boolean isNumber() {
    return json.currentToken().isNumeric();
  }

  /** Whether this value is an object. */
  boolean isObject() {
    return json.currentToken() == JsonToken.START_OBJECT;
  }

  /** Skips this value with everything in it. */
  void skip() {
    json.skipChildren();
  }

  /**
   * A whole number of 64 bits. Ids are not checked here: the store reports all wrong ones together.
   */
  long integer() {
    return integer(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** A whole number from {@code min} to {@code max}. */
  long integer(long min, long max) {
    expect(JsonToken.VALUE_NUMBER_INT, "a whole number");
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw wrong("is out of range");
    }
    long value = json.getLongValue();
    if (value < min || value > max) {
      String range = max == Long.MAX_VALUE ? "at least " + min : "from " + min + " to " + max;
      throw wrong("is " + value + " but must be " + range);
    }
    return value;
  }

  /** A string without unpaired surrogates. */
  String text() {
    expect(JsonToken.VALUE_STRING, "a string");
    String text = json.getString();
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isHighSurrogate(text.charAt(i))
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          throw wrong("contains half of a surrogate pair, which is not a character");
        }
        i++;
      }
    }
    return text;
  }

  /** A string, encoded as UTF-8. */
  Bytes bytes() {
    return Bytes.of(text());
  }

  /** A string of base64, decoded. */
  Bytes base64() {
    try {
      return Bytes.copyOf(Base64.getDecoder().decode(text()));
    } catch (IllegalArgumentException e) {
      throw new WireException(path() + " is not base64: " + e.getMessage(), e);
    }
  }

  /** True or false. */
  boolean bool() {
    return switch (json.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong("must be true or false, not " + found());
    };
  }

  /** The exception for a field that is not known here. */
  WireException unknown() {
    return new WireException("unknown field: " + path());
  }

  /**
   * The exception for a wrong value, or a wrong object that was just read: its path, then {@code
   * what}.
   */
  WireException wrong(String what) {
    return new WireException(path() + " " + what);
  }

  private void expect(JsonToken token, String what) {
    if (json.currentToken() != token) {
      throw wrong("must be " + what + ", not " + found());
    }
  }

  private String found() {
    JsonToken token = json.currentToken();
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "a list";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT -> "a whole number";
      case VALUE_NUMBER_FLOAT -> "a number with a fraction or exponent";
      case VALUE_TRUE -> "true";
      case VALUE_FALSE -> "false";
      case VALUE_NULL -> "null";
      default -> token.toString();
    };
  }

  private String path() {
    String pointer = json.streamReadContext().pathAsPointer().toString();
    return pointer.isEmpty() ? "the request" : pointer.substring(1);
  }

  private static String lowerCase(String name) {
    for (int i = 0; i < name.length(); i++) {
      char letter = name.charAt(i);
      if (letter < 'a' || letter > 'z') {
        return name.toLowerCase(Locale.ROOT);
      }
    }
    return name;
  }
}
