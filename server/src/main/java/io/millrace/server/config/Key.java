package io.millrace.server.config;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One setting: its name within its section, and how its text is read.
 *
 * @param name lower case with dashes; {@code NAME} in it stands for a name that the user chooses
 * @param form what values look like, in words
 * @param absent the value if none is given; may be null
 * @param shown the default in words
 * @param meaning what it does, in one or two sentences
 * @param reader reads a text; throws {@link IllegalArgumentException} if it has another form
 * @param secretFile of a secret, the key of the same section that names a file with it; null for
 *     other keys
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

  /** The part of a key's name that stands for a name that the user chooses. */
  static final String FREE = "NAME";

  /** A key that is no secret. */
  public Key(
      String name,
      String form,
      T absent,
      String shown,
      String meaning,
      Function<String, T> reader) {
    this(name, form, absent, shown, meaning, reader, null);
  }

  /** Keys with a name that the user chooses, for example {@code jobs.types.NAME.description}. */
  static final class FreeName {
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private FreeName() {}

    /** What stands in place of {@code NAME}; null if the name does not have the form of the key. */
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

    /** The keys that may have been meant, with the name that the user chose. */
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
