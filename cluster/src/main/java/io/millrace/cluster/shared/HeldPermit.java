package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Tenure;
import java.time.Duration;

/** A permit, which is a lock. */
final class HeldPermit implements Permit {
  private final Tenure tenure;

  HeldPermit(Tenure tenure) {
    this.tenure = tenure;
  }

  @Override
  public int number() {
    String key = tenure.key();
    return Integer.parseInt(key, key.lastIndexOf('/') + 1, key.length(), 10);
  }

  @Override
  public long fence() {
    return tenure.fence();
  }

  @Override
  public Duration remaining() {
    return tenure.remaining();
  }
}
