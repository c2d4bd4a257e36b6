package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.LeaseLostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A member that can be given work. Safe for use by any number of threads. */
public interface CrewMember {
  /** Its token, which identifies it. */
  String token();

  /** How many lambdas it runs at a time, at least 1. */
  int workers();

  /**
   * Has the member run a lambda, at most once. The lambda and what it captures are serialized by
   * this call. If the member has more lambdas than workers, some wait; a lambda that is not begun
   * within three leases times out.
   *
   * @throws IllegalArgumentException if the lambda cannot be serialized or is too large; names what
   *     and the limit
   * @throws LeaseLostException if this member does not lead any more
   */
  <T extends @Nullable Object> ExecutionFuture<T> submit(SerializableLambda<T> lambda);

  /**
   * As {@link #submit(SerializableLambda)}, and it times out unless it is done within a time.
   *
   * @param limit counted from now on, positive
   */
  <T extends @Nullable Object> ExecutionFuture<T> submit(
      SerializableLambda<T> lambda, Duration limit);

  /**
   * Marks the member as dead, in the document {@code dead/TOKEN}: it gets no more work, and what it
   * has times out. If the member is alive after all, it ends its work, removes the mark and gets
   * work again. Does nothing for a member that is marked.
   *
   * @throws LeaseLostException if this member does not lead any more
   */
  void markDead();
}
