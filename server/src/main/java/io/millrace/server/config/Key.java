package io.millrace.server.config;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One setting: its name within its section, and how its text becomes a value.
 *
 * @param name lower case with dashes; {@code NAME} in it stands for what the user names
 * @param form what values look like, in words
 * @param absent the value if none is given; null if it is then simply absent
 * @param shown the default in words
 * @param meaning what it does, one sentence or two
 * @param reader reads a text; throws {@link IllegalArgumentException} for one of another form
 * @param secretFile for a secret, the key of the same section that names a file with it; null for
 *     what is no secret
 * @param <T> the type of its values
 */
public record Key<T extends @Nullable Object>(
    String name,
    String form,
    T absent,
    String shown,
    String meaning,
    Function<String, T> reader,
    @Nullable String secretFile) {

  /** What stands in the name of a key for a part that the user names. */
  static final String FREE = "NAME";

  /** A key whose value is no secret. */
  public Key(
      String name,
      String form,
      T absent,
      String shown,
      String meaning,
      Function<String, T> reader) {
    this(name, form, absent, shown, meaning, reader, null);
  }

  /** A whole number. */
  public static Key<Long> number(String name, long least, long most, long absent, String meaning) {
    return new Key<>(
        name,
        "a whole number from " + least + " to " + most,
        absent,
        Long.toString(absent),
        meaning,
        text -> inRange(Long.parseLong(text), least, most));
  }

  /** A number of bytes: a whole number, alone or followed by KiB, MiB or GiB. */
  public static Key<Long> bytes(
      String name, long least, long most, long absent, String shown, String meaning) {
    return new Key<>(
        name,
        "bytes from " + least + " to " + most + ", as in 65536 or 64KiB",
        absent,
        shown,
        meaning,
        text -> inRange(parseBytes(text), least, most));
  }

  /** A duration: a number followed by ms, s, m or h. */
  public static Key<Duration> duration(
      String name, Duration least, Duration most, Duration absent, String meaning) {
    return new Key<>(
        name,
        "a duration from " + show(least) + " to " + show(most) + ", as in 500ms, 30s or 5m",
        absent,
        show(absent),
        meaning,
        text -> inRange(parseDuration(text), least, most));
  }

  /** Any text. */
  public static Key<String> text(String name, String absent, String meaning) {
    return new Key<>(name, "text", absent, "`" + absent + "`", meaning, text -> text);
  }

  /** Any text, or none. */
  public static Key<@Nullable String> optionalText(String name, String meaning) {
    return new Key<@Nullable String>(
        name, "text", null, "none", meaning, text -> text.isEmpty() ? null : text);
  }

  /**
   * A secret, or none. Given by {@code --set} it is visible in the list of processes, which is
   * warned about.
   *
   * @param file the key of the same section that names a file with the secret instead
   */
  public static Key<@Nullable String> secret(String name, String file, String meaning) {
    return new Key<@Nullable String>(
        name, "text", null, "none", meaning, text -> text.isEmpty() ? null : text, file);
  }

  /** Whether. */
  public static Key<Boolean> truth(String name, boolean absent, String meaning) {
    return new Key<>(
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
            });
  }

  /** A name that stands there without a value. */
  public static Key<@Nullable String> bare(String name, String meaning) {
    return new Key<@Nullable String>(name, "nothing", null, "none", meaning, _ -> null);
  }

  /** A path, relative to the working directory. */
  public static Key<Path> path(String name, String absent, String meaning) {
    return new Key<>(name, "a path", Path.of(absent), "`" + absent + "`", meaning, Path::of);
  }

  /** A path that may be absent. */
  public static Key<@Nullable Path> optionalPath(String name, String meaning) {
    return new Key<@Nullable Path>(name, "a path", null, "none", meaning, Path::of);
  }

  /** One of the constants of an enum, in lower case. */
  public static <E extends Enum<E>> Key<E> oneOf(
      String name, Class<E> type, E absent, String meaning) {
    String names =
        Stream.of(type.getEnumConstants()).map(Key::lower).collect(Collectors.joining(" or "));
    return new Key<>(
        name,
        names,
        absent,
        "`" + lower(absent) + "`",
        meaning,
        text ->
            Stream.of(type.getEnumConstants())
                .filter(constant -> lower(constant).equals(text))
                .findFirst()
                .orElseThrow(IllegalArgumentException::new));
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
    int end = text.length();
    while (end > 0 && Character.isLetter(text.charAt(end - 1))) {
      end--;
    }
    long nanosPerUnit =
        switch (text.substring(end)) {
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> throw new IllegalArgumentException("no unit");
        };
    BigDecimal number = new BigDecimal(text.substring(0, end).strip());
    return Duration.ofNanos(number.multiply(BigDecimal.valueOf(nanosPerUnit)).longValueExact());
  }

  private static String show(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 3_600_000 == 0 && millis > 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0 && millis > 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
  }

  /** Keys with a part that the user names, as in {@code jobs.types.NAME.description}. */
  static final class FreeName {
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private FreeName() {}

    /** What a name has in the place of the free part; null if it is not of the key's form. */
    static @Nullable String of(String key, String name) {
      int at = place(key);
      if (at < 0) {
        return null;
      }
      String before = key.substring(0, at);
      String after = key.substring(at + Key.FREE.length());
      if (name.length() <= before.length() + after.length()
          || !name.startsWith(before)
          || !name.endsWith(after)) {
        return null;
      }
      String free = name.substring(before.length(), name.length() - after.length());
      return FORM.matcher(free).matches() ? free : null;
    }

    /** The keys that may have been meant, with the part that the user named. */
    static List<String> candidates(Collection<String> keys, String name) {
      return keys.stream().map(key -> filled(key, name)).toList();
    }

    private static String filled(String key, String name) {
      int at = place(key);
      if (at < 0 || !name.startsWith(key.substring(0, at))) {
        return key;
      }
      int end = name.lastIndexOf('.');
      String free = name.substring(at, Math.max(at, end));
      return free.isEmpty()
          ? key
          : key.substring(0, at) + free + key.substring(at + Key.FREE.length());
    }

    private static int place(String key) {
      return key.indexOf(Key.FREE);
    }
  }
}
