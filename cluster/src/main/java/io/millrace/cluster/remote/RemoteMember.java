package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A member of a {@link RemoteExecutor}, to which lambdas can be submitted. Thread-safe.
 *
 * @param executor sends lambdas to it
 * @param peer its token and its workers
 */
public record RemoteMember(RemoteExecutor executor, Peer peer) {
  /** Longer limits count as this. */
  private static final long LONG_SECONDS = Duration.ofDays(100_000).toSeconds();

  /** Its token, which identifies it. */
  public String token() {
    return peer.token();
  }

  /** How many lambdas it runs at a time, at least 1. */
  public int workers() {
    return peer.workers();
  }

  /**
   * Submits a lambda, which runs at most once. The lambda and what it captures are serialized by
   * this call. If the member has more lambdas than workers, some wait; a lambda that is not begun
   * within three leases times out.
   *
   * @throws IllegalArgumentException if the lambda cannot be serialized or is too large; names what
   *     and the limit
   * @throws LeaseLostException if this member does not lead any more
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
      throw new IllegalArgumentException("a limit is positive, not " + limit);
    }
    long millis = Math.min(limit.toSeconds(), LONG_SECONDS) * 1000 + limit.toMillisPart();
    return executor.submit(peer, lambda, millis);
  }

  /**
   * Marks the member as dead, in the document {@code dead/TOKEN}: it gets no more work, and what it
   * has times out. If the member is alive after all, it ends its work, removes the mark and gets
   * work again. Does nothing for a member that is marked.
   *
   * @throws LeaseLostException if this member does not lead any more
   */
  public void markDead() {
    executor.markDead(peer.token());
  }

  @Override
  public String toString() {
    return "member " + peer.token();
  }
}
