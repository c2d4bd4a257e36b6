package io.millrace.store.kernel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The thread that runs the store's loop. It completes the futures of answers, so callbacks run on
 * it. A callback that waited for the store would block the loop, and with it all callers, for ever.
 * Such a wait is refused with {@link IllegalStateException}. Thread-safe.
 */
final class LoopThread {
  private volatile @Nullable Thread stepping;

  /** Notes that the loop begins a step on the calling thread. */
  void enter() {
    stepping = Thread.currentThread();
  }

  /** Notes that the step has ended. */
  void leave() {
    stepping = null;
  }

  /**
   * Called before anything that waits for the loop.
   *
   * @param what what the caller wants to do, for the message
   * @throws IllegalStateException on the thread of the loop
   */
  void refuseToWait(String what) {
    if (Thread.currentThread().equals(stepping)) {
      throw new IllegalStateException(
          what
              + " on the store's own thread, which runs this callback, would block for ever: use"
              + " submit, or run the callback on another thread (thenApplyAsync with an executor)");
    }
  }

  /**
   * The future of an answer, or one derived from it, which refuses to wait on the loop's thread.
   */
  static class Answer<T> extends CompletableFuture<T> {
    private final LoopThread loop;

    Answer(LoopThread loop) {
      this.loop = loop;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new Answer<>(loop);
    }

    @Override
    public T join() {
      refuse();
      return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
      refuse();
      return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException {
      refuse();
      return super.get(timeout, unit);
    }

    private void refuse() {
      if (!isDone()) {
        loop.refuseToWait("waiting for an answer");
      }
    }
  }
}
