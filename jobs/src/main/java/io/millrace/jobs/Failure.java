package io.millrace.jobs;

import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.work.policy.TimeText;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An attempt at a job without a result: it failed, or its worker was gone and the job was returned.
 *
 * @param worker the worker that had it; null if none had, for example if a job was cancelled
 * @param atMillis when, since the epoch
 * @param info what went wrong in a sentence; null when the worker did not say; at most {@value
 *     #MAX_INFO} characters are kept
 * @param logs details; null for none; the last {@value #MAX_LOGS} characters are kept
 * @param wish what the worker says about another attempt
 */
public record Failure(
    @Nullable WorkerId worker,
    long atMillis,
    @Nullable String info,
    @Nullable String logs,
    Wish wish) {
  /** The most characters of the information. */
  public static final int MAX_INFO = 1_000;

  /** The most characters of the logs. */
  public static final int MAX_LOGS = 64_000;

  /** A failure of which the worker does not say whether it is to be tried again. */
  public Failure(
      @Nullable WorkerId worker, long atMillis, @Nullable String info, @Nullable String logs) {
    this(worker, atMillis, info, logs, Wish.NONE);
  }

  /**
   * What a worker says about another attempt.
   *
   * @param code a code of the failure, by which settings tell what is final; null for none
   * @param delay when the next attempt is to begin; null for the pause of the settings
   * @param snooze whether this is no failure: the job is to be given out again after the delay
   */
  public record Wish(@Nullable String code, @Nullable Duration delay, boolean snooze) {
    /** Nothing. */
    public static final Wish NONE = new Wish(null, null, false);

    private static final Pattern CODE = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final BigDecimal MILLIS = BigDecimal.valueOf(1_000);

    /**
     * What a worker has sent.
     *
     * @param code the code of the failure; null for none
     * @param retryAfter when the next attempt is to begin, in seconds; null for none
     * @param snooze when the job is to be given out again without a failure, in seconds; null if it
     *     has failed
     * @throws InvalidJobException naming what is invalid
     */
    public static Wish of(
        @Nullable String code, @Nullable BigDecimal retryAfter, @Nullable BigDecimal snooze) {
      if (code != null && !CODE.matcher(code).matches()) {
        throw new InvalidJobException(
            "failureCode has 1 to 64 characters out of A-Z a-z 0-9 . _ -");
      }
      if (retryAfter != null && snooze != null) {
        throw new InvalidJobException("retryAfter and snooze cannot both be given");
      }
      return snooze != null
          ? new Wish(code, seconds("snooze", snooze), true)
          : new Wish(code, retryAfter == null ? null : seconds("retryAfter", retryAfter), false);
    }

    private static Duration seconds(String field, BigDecimal seconds) {
      long most = TimeText.LONGEST.toSeconds();
      if (seconds.signum() < 0 || seconds.compareTo(BigDecimal.valueOf(most)) > 0) {
        throw new InvalidJobException(field + " is a number of seconds from 0 to " + most);
      }
      return Duration.ofMillis(seconds.multiply(MILLIS).longValue());
    }
  }

  /** Cuts what is too long. */
  public Failure {
    info = info == null ? null : whole(info.substring(0, Math.min(MAX_INFO, info.length())));
    logs = logs == null ? null : whole(logs.substring(Math.max(0, logs.length() - MAX_LOGS)));
  }

  /** With a question mark for half a surrogate pair, which a cut may leave. */
  private static String whole(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
