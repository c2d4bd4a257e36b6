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
 * A strict reader over a JSON text, standing on one token. What it does not expect becomes a {@link
 * WireException} that names the place.
 */
final class JsonInput {
  private final JsonParser json;
  private int mostElements = Integer.MAX_VALUE;
  private int elements;

  private JsonInput(JsonParser json) {
    this.json = json;
  }

  /** Reads one value that fills {@code text}. */
  static <T> T read(byte[] text, Function<JsonInput, T> form) {
    try (JsonParser json = JsonText.FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (json.nextToken() == null) {
        throw new WireException("expected JSON, found nothing");
      }
      T value = form.apply(new JsonInput(json));
      if (json.nextToken() != null) {
        throw new WireException("something follows the end of the JSON value");
      }
      return value;
    } catch (JacksonException e) {
      throw new WireException("malformed JSON: " + JsonMistake.words(e), e);
    }
  }

  /** Expects the beginning of an object and goes on to its first field, as {@link #field} does. */
  @Nullable String object() {
    expect(JsonToken.START_OBJECT, "an object");
    return field();
  }

  /**
   * Reads a list whose elements all have one form.
   *
   * @throws WireException.TooManyParts if there are more elements than allowed
   */
  <T> List<T> list(Function<JsonInput, T> element) {
    expect(JsonToken.START_ARRAY, "a list");
    List<T> list = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (elements++ == mostElements) {
        throw new WireException.TooManyParts(mostElements);
      }
      list.add(element.apply(this));
    }
    return list;
  }

  /**
   * Goes on to the next field of an object that is not null, and stands on its value.
   *
   * @return its name in lower case, since old clients match names without regard to case; null at
   *     the end of the object
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
   * Refuses a field that came before in another case. The parser remembers the names of an object,
   * so that each comes once; it is given the intended name as well, and so finds both orders.
   */
  private void checkFirst(String known) {
    if (json.streamReadContext() instanceof JsonReadContext object
        && object.getDupDetector().isDup(known)) {
      throw new WireException("malformed JSON: the field " + path() + " comes twice");
    }
  }

  /** Has the lists that are read from now on hold at most so many elements together. */
  void limitElements(int most) {
    mostElements = most;
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

  /** Leaves out this value with all that is in it. */
  void skip() {
    json.skipChildren();
  }

  /**
   * Any whole number. The store refuses ids that name no task, together with all other mistakes.
   */
  long integer() {
    return integer(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** A whole number from {@code least} to {@code most}. */
  long integer(long least, long most) {
    expect(JsonToken.VALUE_NUMBER_INT, "a whole number");
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw wrong("is out of range");
    }
    long value = json.getLongValue();
    if (value < least || value > most) {
      String range = most == Long.MAX_VALUE ? "at least " + least : "from " + least + " to " + most;
      throw wrong("is " + value + " but must be " + range);
    }
    return value;
  }

  /** A string of whole Unicode characters. */
  String text() {
    expect(JsonToken.VALUE_STRING, "a string");
    String text = json.getString();
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isHighSurrogate(text.charAt(i))
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          throw wrong("holds half of a surrogate pair, which is no character");
        }
        i++;
      }
    }
    return text;
  }

  /** A string, as its UTF-8 form. */
  Bytes bytes() {
    return Bytes.of(text());
  }

  /** A string of base64, as what it stands for. */
  Bytes base64() {
    try {
      return Bytes.copyOf(Base64.getDecoder().decode(text()));
    } catch (IllegalArgumentException e) {
      throw new WireException(path() + " is not base64: " + e.getMessage(), e);
    }
  }

  /** True or false. */
  boolean truth() {
    return switch (json.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong("must be true or false, not " + found());
    };
  }

  /** What to throw for a field that is not known here. */
  WireException unknown() {
    return new WireException("unknown field: " + path());
  }

  /** What to throw if the value, or the object just read, is wrong: its path, then {@code what}. */
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
