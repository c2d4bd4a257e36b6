package io.millrace.queues.runner;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * The clockwork of a runner.
 *
 * @param guard what must happen in time, and never waits for a server
 * @param renewal what renews claims
 * @param upload what stores output
 */
record Schedule(
    ScheduledExecutorService guard,
    ScheduledExecutorService renewal,
    ScheduledExecutorService upload)
    implements AutoCloseable {

  static Schedule create() {
    return new Schedule(single("guard"), single("renewal"), single("upload"));
  }

  /** One thread, which does not keep a process alive. */
  static ScheduledExecutorService single(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(name).daemon().factory());
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  @Override
  public void close() {
    guard.shutdownNow();
    renewal.shutdownNow();
    upload.shutdownNow();
  }
}
