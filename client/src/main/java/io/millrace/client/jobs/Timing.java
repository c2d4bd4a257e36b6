package io.millrace.client.jobs;

import java.time.Duration;

/**
 * How long a worker waits.
 *
 * @param ping how often the server is asked for a sign of life
 * @param silence after how long without one the connection counts as broken
 * @param firstPause before the first try to connect again
 * @param longestPause before later tries; each waits twice as long as the last
 */
record Timing(Duration ping, Duration silence, Duration firstPause, Duration longestPause) {
  static final Timing USUAL =
      new Timing(
          Duration.ofSeconds(20),
          Duration.ofSeconds(60),
          Duration.ofMillis(100),
          Duration.ofSeconds(10));
}
