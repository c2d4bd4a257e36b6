package io.millrace.client.jobs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Thrown by a handler whose job has failed, or should be tried again later. */
public final class JobFailedException extends Exception {
  private static final long serialVersionUID = 1;

  private final @Nullable String logs;
  private final @Nullable String code;
  private final @Nullable Duration delay;
  private final boolean snooze;

  /**
   * A failure.
   *
   * @param info what went wrong; the server keeps up to 1,000 characters
   * @param logs details; the last 64,000 characters are kept; null for none
   */
  public JobFailedException(String info, @Nullable String logs) {
    this(info, logs, null, null, false);
  }

  private JobFailedException(
      String info,
      @Nullable String logs,
      @Nullable String code,
      @Nullable Duration delay,
      boolean snooze) {
    super(info);
    this.logs = logs;
    this.code = code;
    this.delay = delay;
    this.snooze = snooze;
  }

  /**
   * Postpones the job: it is offered again after a delay, and does not count as failed. The policy
   * of the job limits how often.
   *
   * @param delay not negative
   */
  public static JobFailedException snooze(Duration delay) {
    return new JobFailedException("it is put off", null, null, delay, true);
  }

  /**
   * The same failure with a code. The policy of the job can say for which codes it is tried again.
   *
   * @param name 1 to 64 characters out of {@code A-Z a-z 0-9 . _ -}
   */
  public JobFailedException withCode(String name) {
    return new JobFailedException(String.valueOf(getMessage()), logs, name, delay, snooze);
  }

  /**
   * The same failure, with the delay of the next attempt. It replaces the delay that follows from
   * the policy of the job.
   *
   * @param time not negative
   */
  public JobFailedException retryAfter(Duration time) {
    return new JobFailedException(String.valueOf(getMessage()), logs, code, time, false);
  }

  /** The code of the failure; null for none. */
  public @Nullable String code() {
    return code;
  }

  /** The delay after which the job is offered again; null to follow the policy of the job. */
  public @Nullable Duration delay() {
    return delay;
  }

  /** Whether the job is postponed, which is not a failure. */
  public boolean isSnooze() {
    return snooze;
  }

  /** Details; null for none. */
  public @Nullable String logs() {
    return logs;
  }
}
