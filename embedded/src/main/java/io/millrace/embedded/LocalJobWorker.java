package io.millrace.embedded;

import io.millrace.client.Cancellation;
import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobResult;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Failure.Wish;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import io.millrace.server.jobs.JobsPart;
import io.millrace.store.StoreException;
import io.millrace.work.StepLoop;
import io.millrace.work.trace.TraceContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Passes jobs of the server in this process to a handler: each thread takes a job and works on it,
 * and a loop tells the server that the jobs are alive. Thread-safe.
 */
final class LocalJobWorker {
  private static final Logger LOG = LoggerFactory.getLogger(LocalJobWorker.class);
  private static final int MAX_JOBS = 1_000;
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

  /** The interval of signs of life, which is also how late a job learns that it was cancelled. */
  static final Duration SIGN = Duration.ofMillis(500);

  private final PolledWorkers jobs;
  private final JobRegistry registry;
  private final String type;
  private final String name;
  private final JobHandler handler;
  private final List<Slot> slots = new ArrayList<>();
  private final Set<LocalJob> active = ConcurrentHashMap.newKeySet();
  private final Duration sign;
  private final StepLoop signs;
  private volatile boolean leaving;

  private LocalJobWorker(JobsPart server, String type, JobHandler handler, Duration sign) {
    this.jobs = server.local();
    this.registry = server.jobs().registry();
    this.type = server.jobs().types().require(type).name();
    this.handler = handler;
    this.name = "embedded" + (type.isEmpty() ? "" : "-" + type);
    this.sign = sign;
    this.signs = StepLoop.start(name + "-signs", InstantSource.system(), this::sign);
  }

  /** Starts a worker with this number of threads, and an interval of signs of life. */
  static LocalJobWorker start(
      JobsPart server, String type, int concurrency, JobHandler handler, Duration sign) {
    if (concurrency < 1 || concurrency > MAX_JOBS) {
      throw new IllegalArgumentException("concurrency must be from 1 to 1,000");
    }
    LocalJobWorker worker = new LocalJobWorker(server, type, handler, sign);
    for (int number = 0; number < concurrency; number++) {
      worker.slots.add(worker.new Slot(number));
    }
    worker.slots.forEach(slot -> slot.thread.start());
    return worker;
  }

  private Instant sign(Instant now) {
    for (LocalJob job : active) {
      if (!jobs.alive(job.assignment)) {
        job.cancellation.cancel();
      }
    }
    return now.plus(sign);
  }

  /**
   * Takes no more jobs, and waits until the active ones have ended. Those that have not ended after
   * {@code grace} are cancelled and offered again.
   */
  void close(Duration grace) {
    leaving = true;
    slots.forEach(Slot::interruptIfIdle);
    long endNanos = System.nanoTime() + grace.toNanos();
    boolean interrupted = false;
    for (Slot slot : slots) {
      try {
        boolean _ = slot.thread.join(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())));
      } catch (InterruptedException _) {
        interrupted = true;
        endNanos = System.nanoTime();
      }
    }
    for (LocalJob job : active) {
      job.cancellation.cancel();
      jobs.undelivered(job.assignment, null);
    }
    signs.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A thread that works on one job at a time. */
  private final class Slot {
    private final Thread thread;
    private final int number;
    private boolean busy;

    /** Of its thread alone. */
    private int failures;

    Slot(int number) {
      this.number = number;
      // A platform thread, since handlers may compute for long.
      thread = Thread.ofPlatform().daemon().name(name + "-" + number).unstarted(this::run);
    }

    private void run() {
      while (!leaving) {
        try {
          Optional<Assignment> next = jobs.take(type, registration(), LONGEST_WAIT);
          if (next.isPresent() && begins()) {
            failures += work(next.get()) ? 0 : 1;
          } else if (next.isPresent()) {
            jobs.undelivered(next.get(), null);
          }
        } catch (JobsException | StoreException e) {
          // The store has no room or is stopping; what was not reported is offered again.
          LOG.warn("{}: {}", name, e.getMessage());
        } finally {
          ends();
        }
      }
    }

    /**
     * The worker as which it takes its next job. A job is not given to the worker that it has just
     * failed on, so that it may come to a better one; here there may be no other, and after a
     * failure the thread is another worker.
     */
    private Registration registration() {
      String id =
          "%s-%d-%d-%d".formatted(name, ProcessHandle.current().pid(), number, failures % 2);
      return Registration.single(name, new WorkerId(id), "");
    }

    private synchronized boolean begins() {
      busy = !leaving;
      return busy;
    }

    private synchronized void ends() {
      busy = false;
      if (!leaving) {
        boolean _ = Thread.interrupted();
      }
    }

    synchronized void interruptIfIdle() {
      if (!busy) {
        thread.interrupt();
      }
    }
  }

  /** Works on a job; false if it has failed. */
  private boolean work(Assignment assignment) {
    Job stored = assignment.job();
    InputStream payload = registry.payload(stored).orElse(null);
    if (payload == null) {
      jobs.missing(assignment);
      return true;
    }
    LocalJob job = new LocalJob(assignment);
    MDC.put("job", job.id());
    job.onCancel(job::interrupt);
    active.add(job);
    try (payload) {
      report(job, handler.handle(payload, job));
      return true;
    } catch (JobFailedException e) {
      fail(job, e.getMessage(), e.logs(), new Wish(e.code(), e.delay(), e.isSnooze()));
      return false;
    } catch (Exception | Error e) {
      LOG.debug("job {} failed", job.id(), e);
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      fail(job, e.toString(), trace.toString(), Wish.NONE);
      return false;
    } finally {
      active.remove(job);
      job.leaveThread();
      MDC.remove("job");
    }
  }

  private void report(LocalJob job, JobResult result) throws IOException {
    JobResult.Content content = result.prepare();
    try (InputStream bytes = content.open()) {
      if (job.isCancelled()) {
        return;
      }
      Settled settled = jobs.complete(job.id(), job.fencingToken(), bytes);
      if (settled instanceof Settled.Postponed(String reason)) {
        throw new IOException("the result cannot be stored now: " + reason);
      }
    } finally {
      content.discard();
    }
  }

  private void fail(LocalJob job, @Nullable String info, @Nullable String logs, Wish wish) {
    if (!job.isCancelled()) {
      Failure failure = new Failure(null, System.currentTimeMillis(), info, logs, wish);
      Settled settled = jobs.fail(job.id(), job.fencingToken(), failure);
      LOG.debug("failure of job {}: {}", job.id(), settled);
    }
  }

  /** A job of this process. */
  private final class LocalJob implements JobContext {
    private final Assignment assignment;
    private final Cancellation cancellation = new Cancellation();

    /** The one that works on it; null if none does any more. */
    private @Nullable Thread thread = Thread.currentThread();

    LocalJob(Assignment assignment) {
      this.assignment = assignment;
    }

    private synchronized void interrupt() {
      if (thread != null) {
        thread.interrupt();
      }
    }

    /** From now on its thread works on something else, which is not to be interrupted. */
    private synchronized void leaveThread() {
      thread = null;
    }

    @Override
    public String id() {
      return assignment.job().id().toString();
    }

    @Override
    public String key() {
      return assignment.job().key();
    }

    @Override
    public long fencingToken() {
      return assignment.claim().token();
    }

    @Override
    public Map<String, String> trace() {
      TraceContext span = assignment.job().span(fencingToken());
      return span == null ? Map.of() : span.environment();
    }

    @Override
    public long payloadSize() {
      return assignment.job().content().payload();
    }

    @Override
    public void report(@Nullable Double percent, @Nullable String info) {
      Progress progress =
          new Progress(JobContext.checked(percent), info, System.currentTimeMillis());
      if (jobs.progress(id(), fencingToken(), progress) instanceof Settled.Refused) {
        cancellation.cancel();
      }
    }

    @Override
    public boolean isCancelled() {
      return cancellation.isCancelled();
    }

    @Override
    public void onCancel(Runnable listener) {
      cancellation.onCancel(listener);
    }
  }
}
