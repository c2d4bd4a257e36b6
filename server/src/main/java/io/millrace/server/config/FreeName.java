package io.millrace.server.config;

import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Keys with a part that the user names, as in {@code jobs.types.NAME.description}. */
final class FreeName {
  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private FreeName() {}

  /** What a name has in the place of the free part; null where it is not of the key's form. */
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

  /** The keys that somebody may have meant, with what they named themselves. */
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
