package io.millrace.spring;

import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.spring.JobHandlers.Handler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Works on jobs with the methods of the application. Started after everything else, and stopped
 * before it.
 */
final class JobWorkers implements SmartLifecycle {
  private final JobHandlers handlers;
  private final Host host;
  private final List<Around> around;
  private volatile boolean running;

  JobWorkers(JobHandlers handlers, Host host, List<Around> around) {
    this.handlers = handlers;
    this.host = host;
    this.around = List.copyOf(around);
  }

  /** Where the jobs come from. */
  interface Host {
    void work(Handler handler);

    void stop();

    /** Why no jobs come; empty if they do. */
    Optional<String> problem();
  }

  /** What is done around each call of a handler, for example to measure it. */
  interface Around {
    Handler apply(Handler handler);
  }

  /** A server elsewhere; {@code options} are those of all workers. */
  static Host remote(
      Supplier<JobWorkerOptions> options, Duration grace, Supplier<Optional<String>> ping) {
    return new RemoteWorkers(options, grace, ping);
  }

  private static final class RemoteWorkers implements Host {
    private final Supplier<JobWorkerOptions> options;
    private final Duration grace;
    private final Supplier<Optional<String>> ping;
    private final List<JobWorker> workers = new ArrayList<>();

    RemoteWorkers(
        Supplier<JobWorkerOptions> options, Duration grace, Supplier<Optional<String>> ping) {
      this.options = options;
      this.grace = grace;
      this.ping = ping;
    }

    @Override
    public synchronized void work(Handler handler) {
      workers.add(
          JobWorker.start(
              options.get().withConcurrency(handler.concurrency()),
              handler.kind(),
              handler.work()));
    }

    @Override
    public synchronized void stop() {
      workers.forEach(JobWorker::leave);
      long endNanos = System.nanoTime() + grace.toNanos();
      for (JobWorker worker : workers) {
        boolean _ = worker.stop(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())));
      }
      workers.clear();
    }

    @Override
    public Optional<String> problem() {
      return rejected().or(ping);
    }

    private synchronized Optional<String> rejected() {
      return workers.stream()
          .filter(worker -> worker.onEnd().isDone())
          .findFirst()
          .map(_ -> "the server has rejected a worker");
    }
  }

  @Override
  public synchronized void start() {
    if (!running) {
      for (Handler handler : handlers.all()) {
        Handler called = handler;
        for (Around each : around) {
          called = each.apply(called);
        }
        host.work(called);
      }
      running = true;
    }
  }

  @Override
  public synchronized void stop() {
    if (running) {
      running = false;
      host.stop();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** The last phase. */
  @Override
  public int getPhase() {
    return Integer.MAX_VALUE;
  }
}
