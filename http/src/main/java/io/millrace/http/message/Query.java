package io.millrace.http.message;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The query parameters of a request. Immutable. */
public final class Query {
  private static final Query EMPTY = new Query(Map.of());

  private final Map<String, List<String>> values;

  private Query(Map<String, List<String>> values) {
    this.values = values;
  }

  /**
   * Parses {@code name=value&…}, percent-encoded, with a plus sign for a space.
   *
   * @param raw null if there is no query
   * @throws HttpProblem 400 if it is malformed
   */
  public static Query parse(@Nullable String raw) {
    if (raw == null || raw.isEmpty()) {
      return EMPTY;
    }
    Map<String, List<String>> values = new LinkedHashMap<>();
    int begin = 0;
    while (begin < raw.length()) {
      int end = raw.indexOf('&', begin);
      end = end < 0 ? raw.length() : end;
      int equals = raw.indexOf('=', begin);
      equals = equals < 0 || equals > end ? end : equals;
      if (begin < end) {
        String name = decode(raw, begin, equals, true);
        values
            .computeIfAbsent(name, _ -> new ArrayList<>(1))
            .add(decode(raw, Math.min(equals + 1, end), end, true));
      }
      begin = end + 1;
    }
    return new Query(values);
  }

  /** The names of all parameters, in the order of their first occurrence. */
  public Set<String> names() {
    return Collections.unmodifiableSet(values.keySet());
  }

  /**
   * Refuses unknown parameters, for example misspelt ones.
   *
   * @throws HttpProblem 400 if there is one
   */
  public void checkNames(Set<String> known) {
    for (String name : names()) {
      if (!known.contains(name)) {
        String all =
            known.isEmpty()
                ? "there are no parameters"
                : "the parameters are " + String.join(", ", sorted(known));
        throw HttpProblem.malformed("unknown parameter \"" + name + "\"; " + all);
      }
    }
  }

  private static List<String> sorted(Set<String> names) {
    return names.stream().sorted().toList();
  }

  /** All values of a parameter, in order; empty if it is absent. */
  public List<String> texts(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** The value of a parameter; the last if it is given several times, empty if it is absent. */
  public Optional<String> text(String name) {
    List<String> all = texts(name);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  /**
   * The value of a parameter that is a whole number from {@code min} to {@code max}.
   *
   * @param absent the result if the parameter is absent
   * @throws HttpProblem 400 if it is something else or out of range
   */
  public long integer(String name, long absent, long min, long max) {
    String value = text(name).orElse(null);
    if (value == null) {
      return absent;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException _) {
      // Reported below.
    }
    throw HttpProblem.malformed(
        "the parameter "
            + name
            + " must be a whole number from "
            + min
            + " to "
            + max
            + ", not "
            + value);
  }

  /**
   * The value of a parameter that is 0, 1, yes, no, true or false, in any case.
   *
   * @param absent the result if the parameter is absent
   * @throws HttpProblem 400 if it is something else
   */
  public boolean bool(String name, boolean absent) {
    String value = text(name).orElse(null);
    if (value == null) {
      return absent;
    }
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "1", "yes", "true" -> true;
      case "0", "no", "false" -> false;
      default ->
          throw HttpProblem.malformed(
              "the parameter " + name + " must be one of 0, 1, yes, no, true, false, not " + value);
    };
  }

  /**
   * Decodes {@code raw[begin, end)}.
   *
   * @param plusIsSpace whether a plus sign means a space, as in queries
   * @throws HttpProblem 400 for a malformed escape, a character that must be encoded, or bytes that
   *     are not UTF-8
   */
  public static String decode(String raw, int begin, int end, boolean plusIsSpace) {
    for (int i = begin; i < end; i++) {
      char letter = raw.charAt(i);
      if (letter == '%' || (plusIsSpace && letter == '+')) {
        return decodeEscaped(raw, begin, end, plusIsSpace);
      }
      checkPlain(letter);
    }
    return raw.substring(begin, end);
  }

  private static void checkPlain(char letter) {
    if (letter <= ' ' || letter > '~') {
      throw HttpProblem.malformed("the path or query has a character that must be percent-encoded");
    }
  }

  private static String decodeEscaped(String raw, int begin, int end, boolean plusIsSpace) {
    ByteBuffer bytes = ByteBuffer.allocate(end - begin);
    for (int i = begin; i < end; i++) {
      char letter = raw.charAt(i);
      if (letter == '%') {
        if (i + 2 >= end) {
          throw HttpProblem.malformed("the path or query has % without two hexadecimal digits");
        }
        int high = Character.digit(raw.charAt(i + 1), 16);
        int low = Character.digit(raw.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          throw HttpProblem.malformed(
              "not a percent escape in the path or query: " + raw.substring(i, i + 3));
        }
        bytes.put((byte) (high << 4 | low));
        i += 2;
      } else {
        checkPlain(letter);
        bytes.put((byte) (plusIsSpace && letter == '+' ? ' ' : letter));
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      throw HttpProblem.malformed("the path or query is not UTF-8: " + raw.substring(begin, end));
    }
  }
}
