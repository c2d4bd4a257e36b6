package io.millrace.graph.type;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a node's data. Any mistake is an {@link InvalidGraphException} that names the key and says
 * what is wrong. A JSON null counts as unset. Immutable.
 *
 * @param values the values by key
 */
public record Inputs(Map<String, JsonNode> values) {
  private static final int SHOWN = 60;

  public Inputs {
    values = Map.copyOf(values);
  }

  /** Whether a key is set. */
  public boolean has(String key) {
    return value(key) != null;
  }

  /** A text that must be set and not empty. */
  public String text(String key) {
    String text =
        optionalText(key).orElseThrow(() -> new InvalidGraphException(key + " is missing"));
    if (text.isEmpty()) {
      throw new InvalidGraphException(key + " is empty");
    }
    return text;
  }

  /** A text; empty if it is unset. */
  public Optional<String> optionalText(String key) {
    return Optional.ofNullable(value(key)).map(value -> text(key, "a text", value));
  }

  /** A list of texts; empty if it is unset. */
  public List<String> texts(String key) {
    JsonNode list = value(key);
    if (list == null) {
      return List.of();
    }
    if (!list.isArray()) {
      throw wrong(key, "a list of texts", list);
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode item : list) {
      texts.add(text(key, "a list of texts", item));
    }
    return texts;
  }

  /** An object of texts; empty if it is unset. */
  public Map<String, String> textByName(String key) {
    JsonNode object = value(key);
    if (object == null) {
      return Map.of();
    }
    if (!object.isObject()) {
      throw wrong(key, "an object of texts", object);
    }
    Map<String, String> texts = new LinkedHashMap<>();
    object
        .properties()
        .forEach(property ->
            texts.put(property.getKey(), text(key, "an object of texts", property.getValue())));
    return texts;
  }

  /**
   * A whole number.
   *
   * @param least the least valid number
   * @param most the greatest valid number
   * @param otherwise the result if it is unset
   */
  public int number(String key, int least, int most, int otherwise) {
    JsonNode value = value(key);
    if (value == null) {
      return otherwise;
    }
    if (value.isIntegralNumber()
        && value.canConvertToInt()
        && value.intValue() >= least
        && value.intValue() <= most) {
      return value.intValue();
    }
    throw wrong(key, "a whole number from " + least + " to " + most, value);
  }

  /**
   * A number of seconds, with up to three decimals; empty if it is unset.
   *
   * @param leastMillis the least valid time, in milliseconds
   * @param maxMillis the greatest valid time, in milliseconds
   */
  public Optional<Long> millis(String key, long leastMillis, long maxMillis) {
    JsonNode value = value(key);
    if (value == null) {
      return Optional.empty();
    }
    // A larger number becomes infinite, which is out of range like any other.
    double seconds = value.isNumber() ? value.decimalValue().doubleValue() : Double.NaN;
    if (seconds * 1000 >= leastMillis && seconds * 1000 <= maxMillis) {
      return Optional.of(Math.round(seconds * 1000));
    }
    throw wrong(
        key,
        "a number of seconds from " + seconds(leastMillis) + " to " + seconds(maxMillis),
        value);
  }

  /**
   * A duration: a number of seconds as in {@link #millis}, or a text such as {@code 30s}; empty if
   * it is unset.
   */
  Optional<Duration> duration(String key, long leastMillis, long maxMillis) {
    JsonNode value = value(key);
    if (value == null || !value.isString()) {
      return millis(key, leastMillis, maxMillis).map(Duration::ofMillis);
    }
    Duration duration = TimeText.parse(value.asString()).orElse(null);
    if (duration != null
        && duration.compareTo(Duration.ofMillis(leastMillis)) >= 0
        && duration.compareTo(Duration.ofMillis(maxMillis)) <= 0) {
      return Optional.of(duration);
    }
    throw wrong(
        key,
        "a number of seconds from "
            + seconds(leastMillis)
            + " to "
            + seconds(maxMillis)
            + ", or a duration such as 30s",
        value);
  }

  /** A time: a text with an offset, or milliseconds since 1970; empty if it is unset. */
  Optional<Instant> moment(String key) {
    JsonNode value = value(key);
    if (value == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(TimeText.moment(key, value.asString("")));
    } catch (PolicyException e) {
      throw new InvalidGraphException(
          key
              + " must be a time as in 2030-01-31T08:00:00Z or a number of milliseconds since 1970,"
              + " not "
              + shown(value));
    }
  }

  /** A setting of a policy: a text, a number, or a list of texts; empty if it is unset. */
  Optional<String> setting(String key) {
    JsonNode value = value(key);
    return switch (value) {
      case null -> Optional.empty();
      case JsonNode number when number.isNumber() ->
          Optional.of(number.decimalValue().toPlainString());
      case JsonNode list when list.isArray() -> Optional.of(String.join(",", texts(key)));
      default -> Optional.of(text(key, "a text, a number or a list of texts", value));
    };
  }

  /** Requires exactly one of these keys. */
  String only(List<String> keys) {
    List<String> set = keys.stream().filter(this::has).toList();
    if (set.size() != 1) {
      String found = set.isEmpty() ? "none" : String.join(" and ", set);
      throw new InvalidGraphException(
          "one of " + String.join(", ", keys) + " must be set, not " + found);
    }
    return set.getFirst();
  }

  /** Refuses a key that has no meaning without another. */
  void onlyWith(String key, String other) {
    if (has(key) && !has(other)) {
      throw new InvalidGraphException(key + " is set, and there is no " + other);
    }
  }

  @Nullable JsonNode value(String key) {
    JsonNode value = values.get(key);
    return value == null || value.isNull() ? null : value;
  }

  static InvalidGraphException wrong(String key, String wanted, JsonNode found) {
    return new InvalidGraphException(key + " must be " + wanted + ", not " + shown(found));
  }

  private static String shown(JsonNode found) {
    String text = found.toString();
    return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
  }

  /** Milliseconds as seconds for people: 1500 is 1.5. */
  static String seconds(long millis) {
    return BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString();
  }

  private static String text(String key, String wanted, JsonNode value) {
    if (!value.isString()) {
      throw wrong(key, wanted, value);
    }
    String text = value.asString();
    if (text.indexOf('\0') >= 0 && !key.equals(ProgramForm.STDIN)) {
      throw new InvalidGraphException(key + " contains the character 0");
    }
    return text;
  }
}
