package io.millrace.work;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests that arrive together share a commit. The thread that finds no other committing commits
 * for all that wait; the others sleep until their request is over or it is their turn. Requests
 * without a thread that waits for them are committed by a virtual thread, which exists while there
 * are any. Safe for use by threads.
 *
 * @param <R> a request of the layer
 */
public final class GroupCommit<R extends GroupCommit.Request<?>> {
  private final String name;
  private final Committer<R> committer;
  private final Queue<R> queue = new ConcurrentLinkedQueue<>();

  /** Fair, so that commits in a row keep nobody from {@link #exclusively}. */
  private final ReentrantLock lock = new ReentrantLock(true);

  private final AtomicBoolean flushing = new AtomicBoolean();

  /** Commits requests; called by one thread at a time, under the lock. */
  @FunctionalInterface
  public interface Committer<R> {
    /**
     * Takes as many requests as fit into one commit, and completes or fails each. What it throws
     * fails those that it has taken; if it has taken none, all that wait.
     *
     * @param waiting the requests that wait; there may be none
     */
    void commit(Waiting<R> waiting);
  }

  /** The requests that wait, in the order of their arrival. */
  @FunctionalInterface
  public interface Waiting<R> {
    /** Takes the next one; null if there is none. */
    @Nullable R take();
  }

  /**
   * A request, and its result.
   *
   * @param <T> the result
   */
  public abstract static class Request<T> {
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private volatile @Nullable Thread waiter;

    /** Ends it with a result; does nothing if it is over. */
    public final void complete(T result) {
      answer.complete(result);
      wake();
    }

    /** Ends it with a failure; does nothing if it is over. */
    public final void fail(Throwable why) {
      answer.completeExceptionally(why);
      wake();
    }

    /** Whether it has a result or has failed. */
    public final boolean isOver() {
      return answer.isDone();
    }

    /** Completes when the request is over. */
    public final CompletableFuture<T> answer() {
      return answer;
    }

    /**
     * The result of a request that is over.
     *
     * @throws RuntimeException the failure itself, if it is unchecked
     * @throws IllegalStateException for any other failure, with that as its cause
     */
    public final T result() {
      if (!answer.isCompletedExceptionally()) {
        return answer.resultNow();
      }
      throw answer.exceptionNow() instanceof RuntimeException e
          ? e
          : new IllegalStateException("a commit failed", answer.exceptionNow());
    }

    private void wake() {
      Thread waits = waiter;
      if (waits != null) {
        LockSupport.unpark(waits);
      }
    }
  }

  /** With a name for the thread that commits requests for which no thread waits. */
  public GroupCommit(String name, Committer<R> committer) {
    this.name = name;
    this.committer = committer;
  }

  /** Has a request committed and waits until it is over; see {@link Request#result}. */
  public void run(R request) {
    ((Request<?>) request).waiter = Thread.currentThread();
    queue.add(request);
    boolean interrupted = false;
    while (!request.isOver()) {
      if (!lock.hasQueuedThreads() && lock.tryLock()) {
        try {
          if (!request.isOver()) {
            commitSome();
          }
        } finally {
          unlock();
        }
      } else {
        // Whoever has the lock, or gets it first, wakes the first of the queue afterwards.
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Adds a request without waiting; it is committed at {@link #flush} at the latest. */
  public void enqueue(R request) {
    queue.add(request);
  }

  /** Has all requests that were enqueued committed soon, on another thread. */
  public void flush() {
    if (!queue.isEmpty() && flushing.compareAndSet(false, true)) {
      Thread.ofVirtual().name(name).start(this::commitAll);
    }
  }

  /** Carries out something that must not overlap with a commit. */
  public <T extends @Nullable Object> T exclusively(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      unlock();
    }
  }

  private void commitAll() {
    try {
      while (!queue.isEmpty()) {
        lock.lock();
        try {
          commitSome();
        } finally {
          unlock();
        }
      }
    } finally {
      flushing.set(false);
    }
    // A request that was added since has found a thread at work.
    flush();
  }

  private void unlock() {
    lock.unlock();
    // A thread that found the lock taken had joined the queue before, so it is seen here.
    R next = queue.peek();
    if (next != null) {
      Thread waits = ((Request<?>) next).waiter;
      if (waits == null) {
        flush();
      } else {
        LockSupport.unpark(waits);
      }
    }
  }

  private void commitSome() {
    List<R> taken = new ArrayList<>();
    try {
      committer.commit(() -> {
        R next = queue.poll();
        if (next != null) {
          taken.add(next);
        }
        return next;
      });
      failAll(taken, new IllegalStateException("a commit left out a request that it had taken"));
    } catch (RuntimeException | Error e) {
      if (taken.isEmpty()) {
        for (R next = queue.poll(); next != null; next = queue.poll()) {
          taken.add(next);
        }
      }
      failAll(taken, e);
    }
  }

  private void failAll(List<R> requests, Throwable why) {
    requests.stream().filter(request -> !request.isOver()).forEach(request -> request.fail(why));
  }
}
