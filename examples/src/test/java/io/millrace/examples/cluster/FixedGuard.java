package io.millrace.examples.cluster;

import io.millrace.cluster.lock.Guard;
import java.time.Duration;

/** A lock that is held for ever. */
record FixedGuard(long fence) implements Guard {
  @Override
  public Duration remaining() {
    return Duration.ofMinutes(1);
  }
}
