package io.millrace.work.policy;

import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import io.millrace.work.policy.Policy.Field;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Reads the texts of the fields of a {@link Policy}. Each method throws a {@link PolicyException}
 * that names the field if its text is invalid.
 */
final class FieldValues {
  private static final int MAX_ATTEMPTS = 10_000;
  private static final int MAX_FACTOR = 1_000;
  private static final int MAX_LISTED = 100;
  private static final int MAX_KEY_BYTES = 512;
  private static final int MAX_TAGS = 20;
  private static final Pattern TAG = Pattern.compile("[\\p{L}\\p{N}._:@/=+-]{1,64}");

  private FieldValues() {}

  /** Checks the text of any field. */
  static void check(Field field, String text) {
    switch (field) {
      case ATTEMPTS -> attempts(field, text);
      case SNOOZES -> snoozes(field, text);
      case RETRY_DELAY -> durations(field, text);
      case RETRY_MAX_DELAY, KEEP_FINISHED -> duration(field, text);
      case RETRY_FACTOR -> factor(field, text);
      case RETRY_JITTER -> jitter(field, text);
      case RETRY_EXCEPT -> codes(field, text);
      case TIMEOUT, WAIT_TIMEOUT, TOTAL_TIMEOUT, UNIQUE_PERIOD -> period(field, text);
      case UNIQUE, KEY_FIELD -> key(field, text);
      case UNIQUE_FIELDS -> names(field, text);
      case UNIQUE_SCOPE -> scope(field, text);
      case KEEP_COUNT -> kept(field, text);
      case KEY -> laneKey(field, text);
      case PRIORITY -> priority(field, text);
      case TAGS -> tags(field, text);
      case RUNNING, KEY_RUNNING -> running(field, text);
      case STARTS, KEY_STARTS -> starts(field, text, 0);
      case AGEING -> ageingMillis(field, text);
      case WEIGHTS -> weights(field, text);
      case LIMITS -> shared(field, text);
    }
  }

  static int attempts(Field field, String text) {
    return count(field, text, 1);
  }

  static int snoozes(Field field, String text) {
    return count(field, text, 0);
  }

  private static int count(Field field, String text, int least) {
    if (text.matches("[0-9]{1,9}")) {
      int count = Integer.parseInt(text);
      if (count >= least && count <= MAX_ATTEMPTS) {
        return count;
      }
    }
    throw wrong(field, "must be an integer from " + least + " to " + MAX_ATTEMPTS);
  }

  static String laneKey(Field field, String text) {
    if (text.isEmpty() || text.getBytes(StandardCharsets.UTF_8).length > MAX_KEY_BYTES) {
      throw wrong(field, "must have 1 to " + MAX_KEY_BYTES + " bytes of UTF-8");
    }
    return text;
  }

  static List<String> tags(Field field, String text) {
    List<String> tags = listed(field, text);
    if (tags.size() > MAX_TAGS
        || Set.copyOf(tags).size() < tags.size()
        || !tags.stream().allMatch(tag -> TAG.matcher(tag).matches())) {
      throw wrong(
          field,
          "must list up to "
              + MAX_TAGS
              + " tags, each once, of 1 to 64 letters, digits and . _ : @ / = + -");
    }
    return tags;
  }

  static int priority(Field field, String text) {
    if (!text.matches("[0-9]")) {
      throw wrong(field, "must be an integer from 0 to 9");
    }
    return Integer.parseInt(text);
  }

  static long ageingMillis(Field field, String text) {
    long millis = duration(field, text).toMillis();
    if (millis > Limit.MAX_PERIOD_MILLIS) {
      throw wrong(field, "must be at most 24d");
    }
    return millis;
  }

  static int running(Field field, String text) {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw wrong(field, "must be an integer from 1 to 999999999");
    }
    return Integer.parseInt(text);
  }

  static Limit starts(Field field, String text, int running) {
    return SharedLimits.limit(field.key(), running, text);
  }

  static Map<String, Integer> weights(Field field, String text) {
    Map<String, Integer> weights = new TreeMap<>();
    for (String each : text.split(",", -1)) {
      int equals = each.lastIndexOf('=');
      String weight = each.substring(equals + 1).strip();
      if (equals < 1 || !weight.matches("[1-9][0-9]{0,2}|1000")) {
        throw wrong(field, "must list keys with how many tasks they take, 1 to 1000: ann=3,bob=2");
      }
      weights.put(laneKey(field, each.substring(0, equals).strip()), Integer.valueOf(weight));
    }
    if (weights.size() > Throttling.MAX_WEIGHTS) {
      throw wrong(field, "lists more than " + Throttling.MAX_WEIGHTS);
    }
    return weights;
  }

  static List<String> shared(Field field, String text) {
    List<String> names = listed(field, text);
    for (String name : names) {
      SharedLimits.check(field.key(), name);
    }
    if (names.size() > Throttling.MAX_SHARED || Set.copyOf(names).size() < names.size()) {
      throw wrong(field, "lists up to " + Throttling.MAX_SHARED + " names, each once");
    }
    return names;
  }

  static Long kept(Field field, String text) {
    if (text.matches("[0-9]{1,10}") && Long.parseLong(text) <= Retention.MAX_COUNT) {
      return Long.parseLong(text);
    }
    throw wrong(field, "must be an integer from 0 to " + Retention.MAX_COUNT);
  }

  static double factor(Field field, String text) {
    return number(field, text, 1, MAX_FACTOR);
  }

  static double jitter(Field field, String text) {
    return number(field, text, 0, 1);
  }

  private static double number(Field field, String text, int least, int most) {
    if (text.matches("[0-9]{1,4}(\\.[0-9]{1,9})?")) {
      double number = new BigDecimal(text).doubleValue();
      if (number >= least && number <= most) {
        return number;
      }
    }
    throw wrong(field, "must be a number from " + least + " to " + most);
  }

  static Duration duration(Field field, String text) {
    return TimeText.duration(field.key(), text);
  }

  static List<Duration> durations(Field field, String text) {
    List<Duration> durations = new ArrayList<>();
    for (String each : listed(field, text)) {
      durations.add(duration(field, each));
    }
    return durations;
  }

  static Set<String> codes(Field field, String text) {
    Set<String> codes = new HashSet<>();
    for (String code : listed(field, text)) {
      if (!code.matches("[A-Za-z0-9._-]{1,64}")) {
        throw wrong(field, "must be a list of codes: 1 to 64 characters out of A-Z a-z 0-9 . _ -");
      }
      codes.add(code);
    }
    return codes;
  }

  static String key(Field field, String text) {
    if (text.isEmpty() || text.length() > UniqueKey.MAX_KEY) {
      throw wrong(field, "must be a key of 1 to " + UniqueKey.MAX_KEY + " characters");
    }
    return text;
  }

  static List<String> names(Field field, String text) {
    List<String> names = listed(field, text).stream().sorted().distinct().toList();
    if (names.contains("")) {
      throw wrong(field, "must be a list of names of params");
    }
    return names;
  }

  static UniqueKey.Scope scope(Field field, String text) {
    return UniqueKey.Scope.of(text).orElseThrow(() -> wrong(field, "must be queued or unfinished"));
  }

  static Duration period(Field field, String text) {
    Duration period = duration(field, text);
    if (period.isZero()) {
      throw wrong(field, "must be longer than zero");
    }
    return period;
  }

  private static List<String> listed(Field field, String text) {
    List<String> parts = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    if (parts.size() > MAX_LISTED) {
      throw wrong(field, "lists more than " + MAX_LISTED);
    }
    return parts;
  }

  private static PolicyException wrong(Field field, String what) {
    return new PolicyException(field.key(), field.key() + " " + what);
  }
}
