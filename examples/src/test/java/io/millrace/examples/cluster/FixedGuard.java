package io.millrace.examples.cluster;

import io.millrace.cluster.lock.Guard;
import java.time.Duration;

/** A guard that is always held. */
record FixedGuard(long fence) implements Guard {
  @Override
  public Duration remaining() {
    return Duration.ofMinutes(1);
  }
}
