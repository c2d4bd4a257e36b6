package io.millrace.queues;

import java.time.InstantSource;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/**
 * Makes ids: four bytes of seconds, five random ones of this maker, three of a counter. Those of
 * one maker only grow, as long as it makes fewer than 2^24 in a second. Safe for use by threads.
 */
final class ObjectIds {
  private static final long COUNTER_END = 1L << 24;

  private final InstantSource clock;
  private final String maker;
  private long seconds;
  private long counter;

  ObjectIds(InstantSource clock, RandomGenerator random) {
    this.clock = clock;
    this.maker = HexFormat.of().toHexDigits(random.nextLong(), 10);
  }

  synchronized ObjectId next() {
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
