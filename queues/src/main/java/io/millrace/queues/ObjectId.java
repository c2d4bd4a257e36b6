package io.millrace.queues;

import io.millrace.store.StoreOptions.Ids;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/**
 * The id of a queue, a queue task, a node or a file: 24 lower-case hexadecimal digits, of which the
 * first eight are the seconds since the epoch at its creation. Ordered by its digits, and so by
 * time.
 *
 * @param hex the digits
 */
public record ObjectId(String hex) implements Comparable<ObjectId> {
  private static final int DIGITS = 24;

  /**
   * Checks the form.
   *
   * @throws IllegalArgumentException when {@code hex} is not 24 lower-case hexadecimal digits
   */
  public ObjectId {
    if (!isValid(hex)) {
      throw new IllegalArgumentException("not an id of 24 lower-case hexadecimal digits: " + hex);
    }
  }

  /** Whether {@code text} has the form of an id. */
  public static boolean isValid(String text) {
    if (text.length() != DIGITS) {
      return false;
    }
    for (int i = 0; i < DIGITS; i++) {
      char c = text.charAt(i);
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
        return false;
      }
    }
    return true;
  }

  /** When it was created, in seconds since the epoch. */
  public long seconds() {
    return Long.parseLong(hex, 0, 8, 16);
  }

  @Override
  public int compareTo(ObjectId other) {
    return hex.compareTo(other.hex);
  }

  @Override
  public String toString() {
    return hex;
  }

  /**
   * Creates ids: four bytes of seconds, five random bytes of this generator, which tell the store
   * if it is one of several, three bytes of a counter. The ids of one generator grow, unless it
   * creates more than 2^24 in a second. Safe for use by threads.
   */
  public static final class Generator {
    private static final long COUNTER_END = 1L << 24;
    private static final long MAKER_BITS = (1L << 40) - 1;

    private final InstantSource clock;
    private final String maker;
    private long seconds;
    private long counter;

    /**
     * Draws ids with {@code random}, used under a lock, at the times of {@code clock}.
     *
     * @param ids those of the store
     */
    public Generator(InstantSource clock, RandomGenerator random, Ids ids) {
      this.clock = clock;
      this.maker = HexFormat.of().toHexDigits(ids.upTo(random.nextLong() & MAKER_BITS), 10);
    }

    /** The next id. */
    public synchronized ObjectId next() {
      long now = Math.floorDiv(clock.millis(), 1000L);
      counter++;
      if (now > seconds) {
        seconds = now;
        counter = 0;
      } else if (counter == COUNTER_END) {
        seconds++;
        counter = 0;
      }
      HexFormat digits = HexFormat.of();
      return new ObjectId(digits.toHexDigits(seconds, 8) + maker + digits.toHexDigits(counter, 6));
    }
  }
}
