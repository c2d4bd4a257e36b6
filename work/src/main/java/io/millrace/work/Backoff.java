package io.millrace.work;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses between attempts, each longer than the one before by the same factor, up to a longest. No
 * clock; for use by one thread at a time.
 */
public final class Backoff {
  /** So small that little is added to the time that a takeover takes. */
  private static final double GROWTH_UNTIL_ANSWERED = 1.25;

  private final Duration first;
  private final Duration longest;
  private final double growth;
  private Duration last = Duration.ZERO;

  /**
   * A backoff before the first failure, whose pauses double.
   *
   * @param first the pause after the first failure, longer than zero
   * @param longest no pause is longer
   */
  public Backoff(Duration first, Duration longest) {
    this(first, longest, 2);
  }

  /**
   * One for attempts to reach a server, whose pauses grow by a quarter. So the first attempt after
   * an outage comes early: the pause in which it ends is about a quarter of its length.
   */
  public static Backoff untilAnswered(Duration first, Duration longest) {
    return new Backoff(first, longest, GROWTH_UNTIL_ANSWERED);
  }

  private Backoff(Duration first, Duration longest, double growth) {
    if (!first.isPositive() || longest.compareTo(first) < 0) {
      throw new IllegalArgumentException("pauses from " + first + " up to " + longest);
    }
    this.first = first;
    this.longest = longest;
    this.growth = growth;
  }

  /** The pause that is due after one more failure. */
  public Duration next() {
    Duration more = Duration.ofNanos((long) (last.toNanos() * growth));
    last = last.isZero() ? first : more.compareTo(longest) > 0 ? longest : more;
    return last;
  }

  /**
   * As {@link #next()}, but at random from half of it to one and a half of it, so that many clients
   * do not try again at the same moment.
   */
  public Duration next(RandomGenerator random) {
    long nanos = next().toNanos();
    return Duration.ofNanos(nanos / 2 + random.nextLong(nanos));
  }

  /** Pauses after one more failure. */
  public void pause() throws InterruptedException {
    Thread.sleep(next());
  }

  /** Whether an attempt has failed since the last success. */
  public boolean hasFailed() {
    return !last.isZero();
  }

  /**
   * An attempt has succeeded: the next pause is the first again.
   *
   * @return whether an attempt had failed before
   */
  public boolean succeeded() {
    boolean failed = hasFailed();
    last = Duration.ZERO;
    return failed;
  }
}
