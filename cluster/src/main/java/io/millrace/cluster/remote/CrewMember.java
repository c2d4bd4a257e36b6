package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.SerializableLambda;
import io.millrace.cluster.lock.LeaseLostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A member that can be given work. Safe for use by any number of threads. */
public interface CrewMember {
  /** What tells it from all others. */
  String token();

  /** How many lambdas it runs at a time, at least 1. */
  int workers();

  /**
   * Has it run a lambda: once, or never. The lambda and what it holds are serialized by this call.
   * More lambdas than it has workers wait for one; what it does not begin within three leases times
   * out.
   *
   * @throws IllegalArgumentException where the lambda cannot be serialized or is too large; names
   *     what and the limit
   * @throws LeaseLostException where this member leads no more
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
   * Trusts it no more: written to the document {@code dead/TOKEN}, it gets no work, and what it has
   * times out. A member that lives after all sees that, ends its work, takes the mark away and is
   * trusted again. Does nothing for one that is marked.
   *
   * @throws LeaseLostException where this member leads no more
   */
  void markDead();
}
