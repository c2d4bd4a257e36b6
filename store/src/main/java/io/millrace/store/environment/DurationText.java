package io.millrace.store.environment;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/** Durations as people read and write them: {@code 500ms}, {@code 1.5s}, {@code 5m}, {@code 2d}. */
public final class DurationText {
  private static final int TEN = 10;

  private DurationText() {}

  /** A number and a unit, which is the largest with a whole number; without nanoseconds. */
  public static String show(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + "d";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return Math.abs(millis) < 1_000
        ? millis + "ms"
        : BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString() + "s";
  }

  /** The same of a long duration to one part in ten: without minutes if it is ten hours or more. */
  public static String about(Duration duration) {
    ChronoUnit unit =
        Stream.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES, ChronoUnit.SECONDS)
            .filter(each -> duration.abs().compareTo(each.getDuration().multipliedBy(TEN)) >= 0)
            .findFirst()
            .orElse(ChronoUnit.MILLIS);
    return show(duration.truncatedTo(unit));
  }
}
