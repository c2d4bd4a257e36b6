package io.millrace.server.http;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parameters after the question mark. Immutable. */
public final class Query {
  private static final Query EMPTY = new Query(Map.of());

  private final Map<String, List<String>> values;

  private Query(Map<String, List<String>> values) {
    this.values = values;
  }

  /** Reads {@code name=value&…}, percent-encoded, a plus sign being a space; null for none. */
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
        String name = PercentText.decode(raw, begin, equals, true);
        values
            .computeIfAbsent(name, _ -> new ArrayList<>(1))
            .add(PercentText.decode(raw, Math.min(equals + 1, end), end, true));
      }
      begin = end + 1;
    }
    return new Query(values);
  }

  /** The names of all parameters, in the order of their first coming. */
  public Set<String> names() {
    return Collections.unmodifiableSet(values.keySet());
  }

  /**
   * Refuses parameters that nobody reads, as one that is misspelt.
   *
   * @throws HttpProblem 400 where there is one that is not known
   */
  public void checkNames(Set<String> known) {
    for (String name : names()) {
      if (!known.contains(name)) {
        String all =
            known.isEmpty() ? "there are none" : "there are " + String.join(", ", sorted(known));
        throw HttpProblem.malformed("there is no parameter \"" + name + "\" here; " + all);
      }
    }
  }

  private static List<String> sorted(Set<String> names) {
    return names.stream().sorted().toList();
  }

  /** All values of a parameter, in order; none where it is absent. */
  public List<String> texts(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** The value of a parameter, the last where it comes several times; empty where it is absent. */
  public Optional<String> text(String name) {
    List<String> all = texts(name);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  /**
   * A whole number.
   *
   * @throws HttpProblem 400 where it is something else or out of range
   */
  public long integer(String name, long absent, long least, long most) {
    String value = text(name).orElse(null);
    if (value == null) {
      return absent;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw HttpProblem.malformed(
        "the parameter "
            + name
            + " must be a whole number from "
            + least
            + " to "
            + most
            + ", not "
            + value);
  }

  /**
   * A truth value: 0, 1, yes, no, true or false, in any case.
   *
   * @throws HttpProblem 400 where it is something else
   */
  public boolean truth(String name, boolean absent) {
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
}
