package io.millrace.work.policy;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a program writes to its status file: {@code STATUS}, a number from 1; {@code 2 DELAY} for a
 * failure that asks to be tried again after this delay; or {@code snooze DELAY}.
 *
 * @param status the number; 2, which is a failure, if it snoozes
 * @param delay when it is to be tried again; null for the pause of the settings
 * @param snoozes whether it has not failed and only asks to be put off
 */
public record StatusText(int status, @Nullable Duration delay, boolean snoozes) {
  /** The status of a failure. */
  public static final int FAILED = 2;

  private static final int SHOWN = 80;

  /** Reads the content of a status file; empty if it is invalid. */
  public static Optional<StatusText> parse(String text) {
    String[] words = text.strip().split("\\s+", -1);
    Duration delay = words.length == 2 ? TimeText.parse(words[1]).orElse(null) : null;
    if (words.length > 2
        || (words.length == 2 && (delay == null || delay.compareTo(TimeText.LONGEST) > 0))) {
      return Optional.empty();
    }
    if (delay != null && words[0].equals("snooze")) {
      return Optional.of(new StatusText(FAILED, delay, true));
    }
    long status = words[0].matches("\\+?[0-9]{1,10}") ? Long.parseLong(words[0]) : 0;
    boolean valid = status > 0 && status <= Integer.MAX_VALUE;
    return !valid || (delay != null && status != FAILED)
        ? Optional.empty()
        : Optional.of(new StatusText((int) status, delay, false));
  }

  /** The content of a status file for a message, not too long. */
  public static String shown(String text) {
    String word = text.strip();
    return word.length() > SHOWN ? word.substring(0, SHOWN) + "…" : word;
  }
}
