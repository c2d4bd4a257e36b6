package io.millrace.cluster.remote;

import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lambda that a member runs. Each handler runs at most once, even if it is added after the lambda
 * has ended. Handlers run one after the other on a thread of the crew, in the order in which
 * lambdas end and handlers were added. What a handler throws is logged. No handler runs after
 * leadership is lost. Safe for use by any number of threads.
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
   * Cancels the lambda unless it is done. Its thread is interrupted at the next renewal of its
   * lock, at most a third of the lease later. Waits until it is known whether that succeeded.
   *
   * @return whether it is cancelled; false if it ended otherwise
   */
  boolean cancel() throws InterruptedException;

  /**
   * Waits for its end.
   *
   * @return what the lambda returned
   * @throws RemoteFailureException if it failed
   * @throws ExecutionTimeoutException if it timed out
   * @throws CancellationException if it was cancelled
   * @throws LeaseLostException if this member does not lead any more
   */
  T await() throws InterruptedException;
}
