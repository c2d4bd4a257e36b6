package io.millrace.cli.terminal;

import io.millrace.work.policy.TimeText;
import java.math.BigDecimal;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses durations such as {@code 500ms}, {@code 30s}, {@code 5m}, {@code 2h} or {@code 1d}. */
public final class Durations implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    return TimeText.parse(text)
        .orElseThrow(() ->
            new TypeConversionException(
                "a duration is a number with ms, s, m, h or d, for example 30s; not '"
                    + text
                    + "'"));
  }

  /** A duration in seconds, with up to three decimals, never with an exponent: 0.5, 30 or 3600. */
  public static BigDecimal seconds(Duration time) {
    BigDecimal seconds = BigDecimal.valueOf(time.toMillis(), 3).stripTrailingZeros();
    return seconds.scale() < 0 ? seconds.setScale(0) : seconds;
  }
}
