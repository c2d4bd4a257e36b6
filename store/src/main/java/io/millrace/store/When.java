package io.millrace.store;

import java.time.Duration;
import java.time.Instant;

/** When a task becomes available: now, at a time, or after a while, all in store time. */
public sealed interface When {
  /** At once. */
  record Now() implements When {}

  /**
   * At an absolute time.
   *
   * @param epochMillis milliseconds since the epoch, not negative; a past one means at once. 0 is
   *     the store time of the transaction, as for {@link Now}
   */
  record At(long epochMillis) implements When {}

  /**
   * Relative to the store time of the transaction.
   *
   * @param millis milliseconds from then, not negative
   */
  record After(long millis) implements When {}

  /** At once. */
  static When now() {
    return new Now();
  }

  /** At {@code instant}; a past one means at once. */
  static When at(Instant instant) {
    return new At(instant.toEpochMilli());
  }

  /** {@code delay} after the store time of the transaction; not negative. */
  static When after(Duration delay) {
    return new After(delay.toMillis());
  }

  /** The store time that this names when the transaction happens at {@code nowMillis}. */
  default long resolve(long nowMillis) {
    return switch (this) {
      case Now() -> nowMillis;
      case At(long epochMillis) -> epochMillis == 0 ? nowMillis : epochMillis;
      case After(long millis) -> Math.addExact(nowMillis, millis);
    };
  }
}
