package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.remote.dispatch.Submission;
import io.millrace.cluster.remote.outcome.Outcome;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A submitted lambda. Each handler runs at most once, even if it is added after the lambda has
 * ended. Handlers run one after the other on a thread of the executor, in the order in which
 * lambdas end and handlers were added. Exceptions of handlers are logged. No handler runs after
 * leadership is lost. Safe for use by any number of threads.
 *
 * @param <T> the type of the lambda's result
 */
public final class ExecutionFuture<T extends @Nullable Object> {
  private static final long POLL_MILLIS = 1000;

  private final Address address;
  private final RemoteExecutor executor;
  private final Object lock = new Object();
  private final List<Handler> handlers = new ArrayList<>();
  private ExecutionState state = ExecutionState.SUBMITTED;
  private List<T> value = List.of();
  private RemoteFailure failure = new RemoteFailure("", "", "");
  private String why = "";

  private record Handler(Set<ExecutionState> ends, Runnable action) {}

  ExecutionFuture(Address address, RemoteExecutor executor) {
    this.address = address;
    this.executor = executor;
  }

  Address address() {
    return address;
  }

  /** The name of its partition, such as {@code 7-12}. */
  public String id() {
    return address.partition().generation() + "-" + address.partition().number();
  }

  /** Its state. */
  public ExecutionState state() {
    synchronized (lock) {
      return state;
    }
  }

  /** Adds a handler for the result of the lambda. */
  public ExecutionFuture<T> onDone(Consumer<? super T> handler) {
    return on(Set.of(ExecutionState.DONE), () -> handler.accept(value.getFirst()));
  }

  /** Adds a handler for a failure. */
  public ExecutionFuture<T> onFailure(Consumer<? super RemoteFailure> handler) {
    return on(Set.of(ExecutionState.FAILED), () -> handler.accept(failure));
  }

  /** Adds a handler for a timeout. */
  public ExecutionFuture<T> onTimeout(Runnable handler) {
    return on(Set.of(ExecutionState.TIMED_OUT), handler);
  }

  /** Adds a handler for a failure or a timeout. */
  public ExecutionFuture<T> onFailureOrTimeout(Runnable handler) {
    return on(Set.of(ExecutionState.FAILED, ExecutionState.TIMED_OUT), handler);
  }

  private ExecutionFuture<T> on(Set<ExecutionState> ends, Runnable action) {
    Handler handler = new Handler(ends, action);
    synchronized (lock) {
      if (state.isEnd()) {
        queue(handler);
      } else {
        handlers.add(handler);
      }
    }
    return this;
  }

  private void queue(Handler handler) {
    if (handler.ends().contains(state)) {
      executor.handle(id(), handler.action());
    }
  }

  /**
   * Cancels the lambda unless it is done. Its thread is interrupted at the next renewal of its
   * lock, at most a third of the lease later. Waits until the outcome is known.
   *
   * @return whether it was cancelled; false if it ended otherwise
   */
  public boolean cancel() throws InterruptedException {
    executor.cancel(this);
    return awaitEnd() == ExecutionState.CANCELLED;
  }

  /**
   * Waits until the lambda has ended.
   *
   * @return the result of the lambda
   * @throws RemoteFailureException if it failed
   * @throws ExecutionTimeoutException if it timed out
   * @throws CancellationException if it was cancelled
   * @throws LeaseLostException if this member no longer leads
   */
  public T await() throws InterruptedException {
    return switch (awaitEnd()) {
      case DONE -> value.getFirst();
      case FAILED -> throw new RemoteFailureException(id(), failure);
      case CANCELLED -> throw new CancellationException("lambda " + id() + " was cancelled");
      default -> throw new ExecutionTimeoutException("lambda " + id() + " timed out: " + why);
    };
  }

  private ExecutionState awaitEnd() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    synchronized (lock) {
      while (!state.isEnd()) {
        executor.leader().check();
        long max = Math.min(executor.leader().remaining().toMillis() + 1, POLL_MILLIS);
        lock.wait(max);
      }
      if (state == ExecutionState.ABANDONED) {
        throw new LeaseLostException(
            "the leader that submitted lambda " + id() + " no longer leads");
      }
      return state;
    }
  }

  void begun() {
    synchronized (lock) {
      if (state == ExecutionState.SUBMITTED) {
        state = ExecutionState.RUNNING;
      }
    }
  }

  void ended(Submission.Completion ending) {
    switch (ending) {
      // Deserialization runs users' code, which must not block the leader's thread.
      case Submission.Completion.Finished(Outcome.Done(String sealed)) ->
          Thread.ofVirtual().name("result-" + id()).start(() -> open(sealed));
      case Submission.Completion.Finished(Outcome.Failed(RemoteFailure how)) -> fail(how);
      case Submission.Completion.TimedOut(String reason) ->
          end(ExecutionState.TIMED_OUT, () -> why = reason);
      case Submission.Completion.Cancelled() -> end(ExecutionState.CANCELLED, () -> {});
    }
  }

  private void open(String sealed) {
    try {
      Object result = executor.codec().openResult(address, Base64.getDecoder().decode(sealed));
      end(ExecutionState.DONE, () -> value = returned(result));
    } catch (Throwable e) {
      // Users' classes may throw anything here, and the lambda must end in any case.
      fail(RemoteFailure.of(e));
    }
  }

  @SuppressWarnings("unchecked") // The lambda returns T.
  private List<T> returned(@Nullable Object result) {
    return (List<T>) Collections.singletonList(result);
  }

  private void fail(RemoteFailure how) {
    end(ExecutionState.FAILED, () -> failure = how);
  }

  /** Called when its leader no longer leads. */
  void abandon() {
    end(ExecutionState.ABANDONED, () -> {});
  }

  private void end(ExecutionState end, Runnable record) {
    synchronized (lock) {
      if (state.isEnd()) {
        return;
      }
      record.run();
      state = end;
      handlers.forEach(this::queue);
      handlers.clear();
      lock.notifyAll();
    }
    executor.ended(this);
  }
}
