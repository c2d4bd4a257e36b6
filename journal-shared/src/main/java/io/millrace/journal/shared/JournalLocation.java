package io.millrace.journal.shared;

import io.millrace.store.environment.DurationText;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.time.Duration;

/**
 * Where a shared journal is, and how it is used. {@code toString} tells people where, without
 * secrets. Thread-safe.
 */
public interface JournalLocation {
  /** The name of a store, if none is given. */
  String DEFAULT_STORE = "main";

  /** The usual {@link #lease}. */
  Duration DEFAULT_LEASE = Duration.ofMillis(1_500);

  /** The usual {@link #deadline}. */
  Duration DEFAULT_DEADLINE = Duration.ofSeconds(30);

  /** A connection to the place, which is opened when it is first used. */
  JournalHome connect();

  /** Whether the place is there, or cannot be created by us; true by default. */
  default boolean exists() {
    return true;
  }

  /** How much is kept for subscribers. */
  Retention retention();

  /**
   * How long a leader may answer without a sign of the place, at least 100 ms; a standby waits a
   * tenth more.
   */
  Duration lease();

  /** How long an append whose outcome is unknown is repeated, at least 1 s. */
  Duration deadline();

  /**
   * Checks a name of a store, since a place may hold several.
   *
   * @throws JournalException if it is not 1 to 64 letters, digits, '-', '_' and '.'
   */
  static void requireName(String store) {
    if (store.length() > 64 || !store.matches("[A-Za-z0-9._-]+")) {
      throw new JournalException(
          "the name of a store has 1 to 64 letters, digits, '-', '_' and '.': " + store);
    }
  }

  /**
   * Checks the times.
   *
   * @throws JournalException if one is too short
   */
  static void requireTimes(Duration lease, Duration deadline) {
    if (lease.toMillis() < 100) {
      throw new JournalException(
          "the lease of a store is at least 100 ms: " + DurationText.show(lease));
    }
    if (deadline.toMillis() < 1_000) {
      throw new JournalException(
          "the deadline of an append is at least 1 s: " + DurationText.show(deadline));
    }
  }
}
