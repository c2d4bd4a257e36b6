package io.millrace.store.kernel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The thread that steps the store's loop. It completes the futures of answers, so callbacks run on
 * it; one that waited for the store there would wait for ever, and every other caller with it. Such
 * a wait is refused with {@link IllegalStateException}. Safe for use by threads.
 */
final class LoopThread {
  private volatile @Nullable Thread stepping;

  /** The loop begins a step on the calling thread. */
  void enter() {
    stepping = Thread.currentThread();
  }

  /** The step is over. */
  void leave() {
    stepping = null;
  }

  /**
   * To be called before anything that waits for the loop.
   *
   * @param what what the caller wants to do
   * @throws IllegalStateException on the thread of the loop
   */
  void refuseToWait(String what) {
    if (Thread.currentThread().equals(stepping)) {
      throw new IllegalStateException(
          what
              + " would wait for the store on the store's own thread, which runs this callback, for"
              + " ever: use submit, or run the callback elsewhere (thenApplyAsync with an"
              + " executor)");
    }
  }

  /** An answer of the loop, or what follows from one: not to be waited for on the loop's thread. */
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
