package io.millrace.spring;

import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.embedded.Millrace;
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
  private volatile boolean running;

  JobWorkers(JobHandlers handlers, Host host) {
    this.handlers = handlers;
    this.host = host;
  }

  /** Where the jobs come from. */
  interface Host {
    void work(Handler handler);

    void stop();

    /** Why no jobs come; empty if they do. */
    Optional<String> problem();
  }

  /** A server in this process. */
  static Host local(Millrace millrace, Duration grace) {
    return new Host() {
      @Override
      public void work(Handler handler) {
        millrace.work(
            handler.kind().name(), handler.concurrency(), handler.kind().handledBy(handler.work()));
      }

      @Override
      public void stop() {
        millrace.stopWorkers(grace);
      }

      @Override
      public Optional<String> problem() {
        return millrace.stopped().isDone()
            ? Optional.of("the store has stopped")
            : Optional.empty();
      }
    };
  }

  /** A server elsewhere; {@code options} are those of all workers. */
  static Host remote(Supplier<JobWorkerOptions> options, Duration grace) {
    return new RemoteWorkers(options, grace);
  }

  private static final class RemoteWorkers implements Host {
    private final Supplier<JobWorkerOptions> options;
    private final Duration grace;
    private final List<JobWorker> workers = new ArrayList<>();

    RemoteWorkers(Supplier<JobWorkerOptions> options, Duration grace) {
      this.options = options;
      this.grace = grace;
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
    public synchronized Optional<String> problem() {
      return workers.stream()
          .filter(worker -> worker.onEnd().isDone())
          .findFirst()
          .map(_ -> "the server has rejected a worker");
    }
  }

  Optional<String> problem() {
    return host.problem();
  }

  @Override
  public synchronized void start() {
    if (!running) {
      handlers.all().forEach(host::work);
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
