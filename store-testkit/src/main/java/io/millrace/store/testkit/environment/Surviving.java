package io.millrace.store.testkit.environment;

import java.util.random.RandomGenerator;

/** How much of what was not synced outlives a crash. */
enum Surviving {
  NOTHING,
  ALL,
  ANY;

  private static final Surviving[] VALUES = values();

  static Surviving pick(RandomGenerator random) {
    return VALUES[random.nextInt(VALUES.length)];
  }

  /** How many of {@code count} changes in a row survive. */
  int of(int count, RandomGenerator random) {
    return switch (this) {
      case NOTHING -> 0;
      case ALL -> count;
      case ANY -> count == 0 ? 0 : random.nextInt(count + 1);
    };
  }
}
