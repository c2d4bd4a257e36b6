package io.millrace.cluster.simulation;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** The true time, the queue of scheduled events, and the random numbers of a simulation. */
final class World {
  private record Event(long millis, long number, Runnable action) {}

  private final RandomGenerator random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::millis).thenComparingLong(Event::number));
  private Runnable check = () -> {};
  private long now;
  private long number;

  World(long seed) {
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  RandomGenerator random() {
    return random;
  }

  /** A random number from {@code from} to {@code to}. */
  long between(long from, long to) {
    return random.nextLong(from, to + 1);
  }

  boolean oneIn(int chances) {
    return random.nextInt(chances) == 0;
  }

  long now() {
    return now;
  }

  /** Sets a check that runs after every event. */
  void checkAlways(Runnable what) {
    check = what;
  }

  void at(long millis, Runnable action) {
    events.add(new Event(Math.max(millis, now), number++, action));
  }

  void in(long millis, Runnable action) {
    at(now + millis, action);
  }

  /** Runs all events up to a time. May be called by events. */
  void runUntil(long millis) {
    while (!events.isEmpty() && events.peek().millis <= millis) {
      Event event = events.remove();
      now = Math.max(now, event.millis);
      event.action.run();
      check.run();
    }
    now = Math.max(now, millis);
  }
}
