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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A submitted lambda, as its program sees it. */
final class Execution<T extends @Nullable Object>
    implements ExecutionFuture<T>, Submission.Listener {
  private static final long LOOK_MILLIS = 1000;

  private final Address address;
  private final LeaderCrew crew;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();
  private final List<Handler> handlers = new ArrayList<>();
  private ExecutionState state = ExecutionState.SUBMITTED;
  private List<T> value = List.of();
  private RemoteFailure failure = new RemoteFailure("", "", "");
  private String why = "";

  private record Handler(Set<ExecutionState> ends, Runnable action) {}

  Execution(Address address, LeaderCrew crew) {
    this.address = address;
    this.crew = crew;
  }

  Address address() {
    return address;
  }

  @Override
  public String id() {
    return address.partition().generation() + "-" + address.partition().number();
  }

  @Override
  public ExecutionState state() {
    lock.lock();
    try {
      return state;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public ExecutionFuture<T> onDone(Consumer<? super T> handler) {
    return on(Set.of(ExecutionState.DONE), () -> handler.accept(value.getFirst()));
  }

  @Override
  public ExecutionFuture<T> onFailure(Consumer<? super RemoteFailure> handler) {
    return on(Set.of(ExecutionState.FAILED), () -> handler.accept(failure));
  }

  @Override
  public ExecutionFuture<T> onTimeout(Runnable handler) {
    return on(Set.of(ExecutionState.TIMED_OUT), handler);
  }

  @Override
  public ExecutionFuture<T> onFailureOrTimeout(Runnable handler) {
    return on(Set.of(ExecutionState.FAILED, ExecutionState.TIMED_OUT), handler);
  }

  private ExecutionFuture<T> on(Set<ExecutionState> ends, Runnable action) {
    Handler handler = new Handler(ends, action);
    lock.lock();
    try {
      if (state.isEnd()) {
        queue(handler);
      } else {
        handlers.add(handler);
      }
    } finally {
      lock.unlock();
    }
    return this;
  }

  private void queue(Handler handler) {
    if (handler.ends().contains(state)) {
      crew.handlers().queue(id(), handler.action());
    }
  }

  @Override
  public boolean cancel() throws InterruptedException {
    crew.cancel(this);
    return awaitEnd() == ExecutionState.CANCELLED;
  }

  @Override
  public T await() throws InterruptedException {
    return switch (awaitEnd()) {
      case DONE -> value.getFirst();
      case FAILED -> throw new RemoteFailureException(id(), failure);
      case CANCELLED -> throw new CancellationException("lambda " + id() + " was cancelled");
      default -> throw new ExecutionTimeoutException("lambda " + id() + " timed out: " + why);
    };
  }

  private ExecutionState awaitEnd() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!state.isEnd()) {
        crew.leader().check();
        long most = Math.min(crew.leader().remaining().toMillis() + 1, LOOK_MILLIS);
        ended.awaitNanos(TimeUnit.MILLISECONDS.toNanos(most));
      }
      if (state == ExecutionState.ABANDONED) {
        throw new LeaseLostException("the leader that submitted lambda " + id() + " leads no more");
      }
      return state;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void begun() {
    lock.lock();
    try {
      if (state == ExecutionState.SUBMITTED) {
        state = ExecutionState.RUNNING;
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void ended(Submission.Ending ending) {
    switch (ending) {
      // Making objects runs code of users' classes: not on the leader's thread.
      case Submission.Ending.Finished(Outcome.Done(String sealed)) ->
          Thread.ofVirtual().name("result-" + id()).start(() -> open(sealed));
      case Submission.Ending.Finished(Outcome.Failed(RemoteFailure how)) -> fail(how);
      case Submission.Ending.TimedOut(String reason) ->
          end(ExecutionState.TIMED_OUT, () -> why = reason);
      case Submission.Ending.Cancelled() -> end(ExecutionState.CANCELLED, () -> {});
    }
  }

  private void open(String sealed) {
    try {
      Object result = crew.codec().openResult(address, Base64.getDecoder().decode(sealed));
      end(ExecutionState.DONE, () -> value = returned(result));
    } catch (Throwable e) {
      // Users' classes may throw anything here, and the caller waits for an end.
      fail(RemoteFailure.of(e));
    }
  }

  @SuppressWarnings("unchecked") // It is what a lambda returned that returns T.
  private List<T> returned(@Nullable Object result) {
    return (List<T>) Collections.singletonList(result);
  }

  private void fail(RemoteFailure how) {
    end(ExecutionState.FAILED, () -> failure = how);
  }

  /** Its leader does not lead any more. */
  void abandon() {
    end(ExecutionState.ABANDONED, () -> {});
  }

  private void end(ExecutionState end, Runnable record) {
    lock.lock();
    try {
      if (state.isEnd()) {
        return;
      }
      record.run();
      state = end;
      handlers.forEach(this::queue);
      handlers.clear();
      ended.signalAll();
    } finally {
      lock.unlock();
    }
    crew.ended(this);
  }
}
