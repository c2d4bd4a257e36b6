package io.millrace.jobs;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An attempt at a job without a result: it failed, or its worker was gone and the job was returned.
 *
 * @param worker the worker that had it; null if none had, for example if a job was cancelled
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
    info = info == null ? null : whole(info.substring(0, Math.min(MOST_INFO, info.length())));
    logs = logs == null ? null : whole(logs.substring(Math.max(0, logs.length() - MOST_LOGS)));
  }

  /** With a question mark for half a surrogate pair, which a cut may leave. */
  private static String whole(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
