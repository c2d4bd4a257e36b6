package io.millrace.queues.runner;

import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** A store that can be away. */
final class AwayStore implements AutoCloseable {
  private final TaskStore real;
  private final TaskStore store;
  private final Semaphore commits = new Semaphore(0);
  private volatile boolean away;
  private volatile CountDownLatch missed = new CountDownLatch(1);

  AwayStore(TaskStore real) {
    this.real = real;
    this.store =
        (TaskStore)
            Proxy.newProxyInstance(
                TaskStore.class.getClassLoader(),
                new Class<?>[] {TaskStore.class},
                (_, method, arguments) -> {
                  if (away) {
                    missed.countDown();
                    throw new StoreException("the server is away");
                  }
                  if (method.getName().equals("commit")) {
                    commits.release();
                  }
                  try {
                    return method.invoke(real, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
  }

  TaskStore store() {
    return store;
  }

  /** Waits for this many commits from now on. */
  void awaitCommits(int count) throws InterruptedException {
    commits.drainPermits();
    commits.acquire(count);
  }

  void leave() {
    missed = new CountDownLatch(1);
    away = true;
  }

  /** Waits until somebody has found it away. */
  void awaitMissed() throws InterruptedException {
    missed.await();
  }

  void comeBack() {
    away = false;
  }

  @Override
  public void close() {
    real.close();
  }
}
