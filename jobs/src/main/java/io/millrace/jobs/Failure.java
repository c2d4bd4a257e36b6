package io.millrace.jobs;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at a job that came to nothing: it failed, or its worker was gone and it was returned.
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
    info = info == null ? null : whole(info.substring(0, Math.min(MOST_INFO, info.length())));
    logs = logs == null ? null : whole(logs.substring(Math.max(0, logs.length() - MOST_LOGS)));
  }

  /** With a question mark for half a surrogate pair, which a cut may leave. */
  private static String whole(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
