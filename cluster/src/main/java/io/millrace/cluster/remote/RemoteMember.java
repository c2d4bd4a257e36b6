package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A member to which lambdas can be submitted. Thread-safe.
 *
 * @param executor the executor that runs lambdas on it
 * @param peer the member's token and workers
 */
public record RemoteMember(RemoteExecutor executor, Peer peer) {
  /** The maximum time limit; longer ones are reduced to it. */
  private static final long LONG_SECONDS = Duration.ofDays(100_000).toSeconds();

  /** The token that identifies the member. */
  public String token() {
    return peer.token();
  }

  /** The number of lambdas that it runs at a time, at least 1. */
  public int workers() {
    return peer.workers();
  }

  /**
   * Submits a lambda, which runs at most once. This call serializes the lambda with everything that
   * it captures. If the member has more lambdas than workers, some wait. A lambda that has not
   * started within three leases times out.
   *
   * @throws IllegalArgumentException if the lambda cannot be serialized or is too large; the
   *     message names the class or the limit
   * @throws LeaseLostException if this member no longer leads
   */
  public <T extends @Nullable Object> ExecutionFuture<T> submit(SerializableLambda<T> lambda) {
    return executor.submit(peer, lambda, Long.MAX_VALUE);
  }

  /**
   * The same as {@link #submit(SerializableLambda)}, with a time limit.
   *
   * @param limit the time limit from now, positive
   */
  public <T extends @Nullable Object> ExecutionFuture<T> submit(
      SerializableLambda<T> lambda, Duration limit) {
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("a time limit must be positive, not " + limit);
    }
    long millis = Math.min(limit.toSeconds(), LONG_SECONDS) * 1000 + limit.toMillisPart();
    return executor.submit(peer, lambda, millis);
  }

  /**
   * Marks the member as dead, in the document {@code dead/TOKEN}: it gets no more work, and its
   * lambdas time out. If the member is alive after all, it ends its work, removes the mark and gets
   * work again. Does nothing if the member is marked already.
   *
   * @throws LeaseLostException if this member no longer leads
   */
  public void markDead() {
    executor.markDead(peer.token());
  }

  @Override
  public String toString() {
    return "member " + peer.token();
  }
}
