package io.millrace.server.config;

import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.TimeText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Declares the keys of a section, in the order in which they are documented. For use by one thread.
 */
public final class SectionKeys {
  private final List<Key<?>> keys = new ArrayList<>();

  /**
   * The section of all keys that were declared.
   *
   * @param name the first part of their names, for example {@code server} of {@code server.port}
   * @param record makes the record of the section from the values
   */
  public <R> Section<R> section(String name, Function<Values, R> record) {
    return new Section<>(name, keys, record);
  }

  /** Declares a key of another form. */
  public <T extends @Nullable Object> Key<T> add(Key<T> key) {
    keys.add(key);
    return key;
  }

  /** A whole number. */
  public Key<Long> number(String name, long least, long most, long absent, String meaning) {
    return add(
        new Key<>(
            name,
            "a whole number from " + least + " to " + most,
            absent,
            Long.toString(absent),
            meaning,
            text -> inRange(Long.parseLong(text), least, most)));
  }

  /** A number of bytes: a whole number, alone or followed by KiB, MiB or GiB. */
  public Key<Long> bytes(
      String name, long least, long most, long absent, String shown, String meaning) {
    return add(
        new Key<>(
            name,
            "bytes from " + least + " to " + most + ", as in 65536 or 64KiB",
            absent,
            shown,
            meaning,
            text -> inRange(parseBytes(text), least, most)));
  }

  /** A duration: a number followed by ms, s, m or h. */
  public Key<Duration> duration(
      String name, Duration least, Duration most, Duration absent, String meaning) {
    return add(
        new Key<>(
            name,
            "a duration from "
                + DurationText.show(least)
                + " to "
                + DurationText.show(most)
                + ", as in 500ms, 30s or 5m",
            absent,
            DurationText.show(absent),
            meaning,
            text -> inRange(parseDuration(text), least, most)));
  }

  /**
   * A duration, or none.
   *
   * @param shown what none means
   */
  public Key<@Nullable Duration> optionalDuration(
      String name, Duration least, Duration most, String shown, String meaning) {
    return add(
        new Key<@Nullable Duration>(
            name,
            "a duration from "
                + DurationText.show(least)
                + " to "
                + DurationText.show(most)
                + ", as in 12h or 30d",
            null,
            shown,
            meaning,
            text -> text.isEmpty() ? null : inRange(parseDuration(text), least, most)));
  }

  /**
   * A whole number, or none.
   *
   * @param shown what none means
   */
  public Key<@Nullable Long> optionalNumber(
      String name, long least, long most, String shown, String meaning) {
    return add(
        new Key<@Nullable Long>(
            name,
            "a whole number from " + least + " to " + most,
            null,
            shown,
            meaning,
            text -> text.isEmpty() ? null : inRange(Long.parseLong(text), least, most)));
  }

  /** Any text. */
  public Key<String> text(String name, String absent, String meaning) {
    return add(new Key<>(name, "text", absent, "`" + absent + "`", meaning, text -> text));
  }

  /** Any text, or none. */
  public Key<@Nullable String> optionalText(String name, String meaning) {
    return add(
        new Key<@Nullable String>(
            name, "text", null, "none", meaning, text -> text.isEmpty() ? null : text));
  }

  /**
   * A secret, or none. If it is given by {@code --set}, it is visible in the list of processes, so
   * there is a warning.
   *
   * @param file the key of the same section that names a file with the secret instead
   */
  public Key<@Nullable String> secret(String name, String file, String meaning) {
    return add(
        new Key<@Nullable String>(
            name, "text", null, "none", meaning, text -> text.isEmpty() ? null : text, file));
  }

  /**
   * A secret that is given as text, or in a file that has it alone, or not at all.
   *
   * @param section the name of the section of both keys, for messages
   * @throws ConfigurationException if both are given, or the file cannot be read
   */
  public static @Nullable String secretOf(
      Values values, String section, Key<@Nullable String> asText, Key<@Nullable Path> inFile) {
    String text = values.get(asText);
    Path file = values.get(inFile);
    if (text != null && file != null) {
      throw new ConfigurationException(
          "%s.%s and %s.%s are both given; leave one of them out"
              .formatted(section, asText.name(), section, inFile.name()));
    }
    if (file == null) {
      return text;
    }
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new ConfigurationException(
          "%s.%s cannot be read: %s".formatted(section, inFile.name(), e));
    }
  }

  /** True or false. */
  public Key<Boolean> bool(String name, boolean absent, String meaning) {
    return add(
        new Key<>(
            name,
            "true or false",
            absent,
            "`" + absent + "`",
            meaning,
            text ->
                switch (text) {
                  case "true" -> true;
                  case "false" -> false;
                  default -> throw new IllegalArgumentException(text);
                }));
  }

  /** A key without a value. */
  public Key<@Nullable String> bare(String name, String meaning) {
    return add(new Key<@Nullable String>(name, "nothing", null, "none", meaning, _ -> null));
  }

  /** A path, relative to the working directory. */
  public Key<Path> path(String name, String absent, String meaning) {
    return add(new Key<>(name, "a path", Path.of(absent), "`" + absent + "`", meaning, Path::of));
  }

  /** A path that may be absent. */
  public Key<@Nullable Path> optionalPath(String name, String meaning) {
    return add(new Key<@Nullable Path>(name, "a path", null, "none", meaning, Path::of));
  }

  /** One of the constants of an enum, in lower case. */
  public <E extends Enum<E>> Key<E> oneOf(String name, Class<E> type, E absent, String meaning) {
    return add(
        new Key<>(
            name,
            names(type),
            absent,
            "`" + lower(absent) + "`",
            meaning,
            text -> named(type, text)));
  }

  /**
   * One of the constants of an enum, in lower case, or none.
   *
   * @param shown what none means
   */
  public <E extends Enum<E>> Key<@Nullable E> optionalOneOf(
      String name, Class<E> type, String shown, String meaning) {
    return add(
        new Key<@Nullable E>(name, names(type), null, shown, meaning, text -> named(type, text)));
  }

  private static String names(Class<? extends Enum<?>> type) {
    return Stream.of(type.getEnumConstants())
        .map(SectionKeys::lower)
        .collect(Collectors.joining(" or "));
  }

  private static <E extends Enum<E>> E named(Class<E> type, String text) {
    return Stream.of(type.getEnumConstants())
        .filter(constant -> lower(constant).equals(text))
        .findFirst()
        .orElseThrow(IllegalArgumentException::new);
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static <C extends Comparable<C>> C inRange(C value, C least, C most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }

  private static long parseBytes(String text) {
    int shift =
        text.endsWith("KiB") ? 10 : text.endsWith("MiB") ? 20 : text.endsWith("GiB") ? 30 : 0;
    String digits = shift == 0 ? text : text.substring(0, text.length() - 3).strip();
    return Math.multiplyExact(Long.parseLong(digits), 1L << shift);
  }

  private static Duration parseDuration(String text) {
    return TimeText.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("no duration: " + text));
  }
}
