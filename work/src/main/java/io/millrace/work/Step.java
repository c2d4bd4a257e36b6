package io.millrace.work;

import java.time.Instant;

/**
 * One step of an activity that is driven from outside: by a {@link StepLoop} in production, by the
 * simulator or a test with virtual time. It reads no clock and starts no thread.
 */
@FunctionalInterface
public interface Step {
  /** The answer of {@link #step} if no other step is due until the activity is woken. */
  Instant NEVER = Instant.MAX;

  /** The answer of {@link #step} if the activity is over. */
  Instant FINISHED = Instant.MIN;

  /**
   * Does what is due.
   *
   * @param now the time, by the clock of whoever drives the activity
   * @return when the next step is due, even if nothing wakes the activity before; {@code now} or
   *     earlier for at once, {@link #NEVER}, or {@link #FINISHED}
   */
  Instant step(Instant now);
}
