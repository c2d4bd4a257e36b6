package io.millrace.cluster.remote;

import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lambda that a member runs. Each handler runs at most once, also one that is added after the end
 * that it is for; handlers run one after the other on a thread of the crew, in the order in which
 * lambdas end and handlers were added. What a handler throws is logged. None runs once leadership
 * is lost. Safe for use by any number of threads.
 *
 * @param <T> what the lambda returns
 */
public interface ExecutionFuture<T extends @Nullable Object> {
  /** The name of its partition, such as {@code 7-12}. */
  String id();

  /** How far it is. */
  ExecutionState state();

  /** Called with what the lambda returned. */
  ExecutionFuture<T> onDone(Consumer<? super T> handler);

  /** Called with how it failed. */
  ExecutionFuture<T> onFailure(Consumer<? super RemoteFailure> handler);

  /** Called when it timed out. */
  ExecutionFuture<T> onTimeout(Runnable handler);

  /** Called when it failed or timed out. */
  ExecutionFuture<T> onFailureOrTimeout(Runnable handler);

  /**
   * Cancels it unless it is done before: its thread is interrupted at the next renewal of its lock,
   * a third of the lease later at most. Waits until that is decided.
   *
   * @return whether it is cancelled; false where it ended otherwise
   */
  boolean cancel() throws InterruptedException;

  /**
   * Waits for its end.
   *
   * @return what the lambda returned
   * @throws RemoteFailureException where it failed
   * @throws ExecutionTimeoutException where it timed out
   * @throws CancellationException where it was cancelled
   * @throws LeaseLostException where this member leads no more
   */
  T await() throws InterruptedException;
}
