package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A member of a crew that leads. */
record LiveMember(LiveCrew crew, Peer peer) implements CrewMember {
  /** Longer limits count as this. */
  private static final long LONG_SECONDS = Duration.ofDays(100_000).toSeconds();

  @Override
  public String token() {
    return peer.token();
  }

  @Override
  public int workers() {
    return peer.workers();
  }

  @Override
  public <T extends @Nullable Object> ExecutionFuture<T> submit(SerializableLambda<T> lambda) {
    return crew.submit(peer, lambda, Long.MAX_VALUE);
  }

  @Override
  public <T extends @Nullable Object> ExecutionFuture<T> submit(
      SerializableLambda<T> lambda, Duration limit) {
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("a limit is positive, not " + limit);
    }
    long millis = Math.min(limit.toSeconds(), LONG_SECONDS) * 1000 + limit.toMillisPart();
    return crew.submit(peer, lambda, millis);
  }

  @Override
  public void markDead() {
    crew.markDead(peer.token());
  }

  @Override
  public String toString() {
    return "member " + peer.token();
  }
}
