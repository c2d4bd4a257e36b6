package io.millrace.work.policy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Whether and when work that has failed is tried again.
 *
 * <p>An attempt is a start. A start that was interrupted (its process or worker was lost) or that
 * asked to be put off (it snoozed) is not counted as an attempt; each of these has a limit of its
 * own.
 *
 * @param attempts the most attempts, from 1; 1 for no retry
 * @param delays the pauses before the retries; not empty. If there is one, it is the first pause,
 *     and each later one is {@code factor} times as long as the one before; if there are several,
 *     they are used in order, and the last one is repeated
 * @param factor from 1, which makes all pauses equal
 * @param maxDelay no pause is longer, unless a failure asks for one
 * @param jitter by which part of it each pause is at random shorter or longer, from 0 to 1
 * @param except the codes of failures that are not retried
 * @param snoozes how often the work may be put off
 */
public record RetryPolicy(
    int attempts,
    List<Duration> delays,
    double factor,
    Duration maxDelay,
    double jitter,
    Set<String> except,
    int snoozes) {
  /** One attempt; what a policy has without settings. */
  public static final RetryPolicy DEFAULTS =
      new RetryPolicy(
          1, List.of(Duration.ofSeconds(10)), 2, Duration.ofHours(1), 0.1, Set.of(), 1_000);

  /** Copies the lists. */
  public RetryPolicy {
    delays = List.copyOf(delays);
    except = Set.copyOf(except);
    if (attempts < 1 || delays.isEmpty() || !(factor >= 1) || !(jitter >= 0 && jitter <= 1)) {
      throw new IllegalArgumentException("no retry policy");
    }
  }

  /**
   * How an attempt failed.
   *
   * @param code the exit code, or a code that the worker has given; null for none
   * @param delay the pause that the failure asks for; null for the policy's
   */
  public record Failed(@Nullable String code, @Nullable Duration delay) {
    /** Nothing is known of the failure. */
    public static final Failed UNKNOWN = new Failed(null, null);
  }

  /**
   * The pause before the next attempt.
   *
   * @param failures how many attempts have failed, this one included
   * @param random draws the jitter
   * @return empty if it is not tried again
   */
  public Optional<Duration> retry(int failures, Failed failed, RandomGenerator random) {
    if (failures >= attempts || (failed.code() != null && except.contains(failed.code()))) {
      return Optional.empty();
    }
    Duration asked = failed.delay();
    return Optional.of(asked == null ? jittered(pause(failures), random) : capped(asked));
  }

  /**
   * Whether work that asks to be put off may be.
   *
   * @param snoozed how often it was put off before
   */
  public boolean maySnooze(int snoozed) {
    return snoozed < snoozes;
  }

  /** The pause after this many failures, from 1, without jitter. */
  Duration pause(int failures) {
    if (delays.size() > 1) {
      return shorter(delays.get(Math.min(failures, delays.size()) - 1), maxDelay);
    }
    // Infinity and whatever exceeds a long become the longest pause.
    double millis = delays.getFirst().toMillis() * Math.pow(factor, failures - 1.0);
    return millis >= maxDelay.toMillis() ? maxDelay : Duration.ofMillis((long) millis);
  }

  /** Drawn evenly, also where the longest pause cuts the range off. */
  private Duration jittered(Duration pause, RandomGenerator random) {
    double least = pause.toMillis() * (1 - jitter);
    double most = Math.min(pause.toMillis() * (1 + jitter), (double) maxDelay.toMillis());
    return capped(Duration.ofMillis((long) (least + (most - least) * random.nextDouble())));
  }

  /** No longer than a store can keep. */
  public static Duration capped(Duration pause) {
    return pause.isNegative() ? Duration.ZERO : shorter(pause, TimeText.LONGEST);
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
