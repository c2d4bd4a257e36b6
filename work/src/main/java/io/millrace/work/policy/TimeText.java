package io.millrace.work.policy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Times as people write them: durations such as {@code 500ms}, {@code 30s}, {@code 5m}, {@code 2h}
 * or {@code 1d}, and moments such as {@code 2026-12-24T18:00:00+01:00}.
 */
public final class TimeText {
  /** No duration is longer: ten years. */
  public static final Duration LONGEST = Duration.ofDays(3_650);

  private static final BigInteger NANOS_PER_SECOND = BigInteger.valueOf(1_000_000_000);
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,13}(?:\\.[0-9]{1,9})?) *(ms|s|m|h|d)");

  private TimeText() {}

  /**
   * Reads a duration that is a setting.
   *
   * @param field the name of what is read, for the error
   * @throws PolicyException if it is none, or longer than {@link #LONGEST}
   */
  public static Duration duration(String field, String text) {
    Duration duration =
        parse(text)
            .orElseThrow(() ->
                new PolicyException(
                    field,
                    field
                        + " must be a duration: a number with ms, s, m, h or d, for example 30s"));
    if (duration.compareTo(LONGEST) > 0) {
      throw new PolicyException(field, field + " must be at most " + LONGEST.toDays() + "d");
    }
    return duration;
  }

  /**
   * Reads a duration: a number, which may have decimals, and a unit, between which blanks may
   * stand.
   *
   * @return empty if it is none, or has more than 13 digits before the point or 9 behind it
   */
  public static Optional<Duration> parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    long nanosPerUnit =
        switch (parts.group(2)) {
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 86_400_000_000_000L;
        };
    BigDecimal nanos = new BigDecimal(parts.group(1)).multiply(BigDecimal.valueOf(nanosPerUnit));
    BigInteger[] seconds = nanos.toBigInteger().divideAndRemainder(NANOS_PER_SECOND);
    return Optional.of(
        Duration.ofSeconds(seconds[0].longValueExact(), seconds[1].longValueExact()));
  }

  /**
   * Reads a moment: a date and a time with {@code Z} or an offset, or milliseconds since the epoch.
   *
   * @param field the name of what is read, for the error
   * @throws PolicyException if it is none, or before 1970
   */
  public static Instant moment(String field, String text) {
    try {
      Instant moment =
          text.matches("[0-9]{1,15}")
              ? Instant.ofEpochMilli(Long.parseLong(text))
              : OffsetDateTime.parse(text).toInstant();
      if (!moment.isBefore(Instant.EPOCH)) {
        return moment;
      }
    } catch (DateTimeParseException _) {
      // Said below.
    }
    throw new PolicyException(
        field,
        field
            + " must be a date and a time with a zone, for example 2026-12-24T18:00:00Z or"
            + " 2026-12-24T18:00:00+01:00");
  }
}
