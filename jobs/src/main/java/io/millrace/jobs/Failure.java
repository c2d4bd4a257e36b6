package io.millrace.jobs;

import org.jspecify.annotations.Nullable;

/**
 * One failed attempt at a job.
 *
 * @param worker who had it; null when nobody had, as for a cancelled job
 * @param atMillis when, since the epoch
 * @param info what went wrong in a sentence; null when the worker did not say; at most {@value
 *     #MOST_INFO} characters are kept
 * @param logs details; null for none; the last {@value #MOST_LOGS} characters are kept
 */
public record Failure(
    @Nullable WorkerId worker, long atMillis, @Nullable String info, @Nullable String logs) {
  /** The most characters of the information. */
  public static final int MOST_INFO = 1_000;

  /** The most characters of the logs. */
  public static final int MOST_LOGS = 64_000;

  /** Cuts what is too long. */
  public Failure {
    info = info == null || info.length() <= MOST_INFO ? info : info.substring(0, MOST_INFO);
    logs =
        logs == null || logs.length() <= MOST_LOGS
            ? logs
            : logs.substring(logs.length() - MOST_LOGS);
  }
}
