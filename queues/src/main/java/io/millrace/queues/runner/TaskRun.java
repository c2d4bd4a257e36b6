package io.millrace.queues.runner;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.Plugins;
import io.millrace.queues.runner.RunnerContext.Schedule;
import io.millrace.store.environment.DurationText;
import io.millrace.work.Backoff;
import io.millrace.work.LeaseKeeper;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** One task from its start to its report. {@link #stop} may be called by any thread. */
final class TaskRun {
  private static final Logger LOG = LoggerFactory.getLogger(TaskRun.class);

  /** How many ticks there are between two uploads: a second. */
  private static final int UPLOAD_TICKS = 10;

  /** How long work whose time is over has to end by itself before it is killed. */
  private static final Duration TIMEOUT_GRACE = Duration.ofSeconds(5);

  private final Assignment assignment;
  private final RunnerContext context;
  private final Consumer<Duration> holds;
  private @Nullable Work work;
  private boolean ended;
  private boolean leavesThreads;
  private Interruption interruption = Interruption.NONE;

  /** What has interrupted the work; a later constant takes precedence. */
  private enum Interruption {
    NONE,
    TIMEOUT,
    STOPPED,
    LEASE,
    LOST
  }

  /**
   * A run that has not begun.
   *
   * @param holds takes how long the claim lasts from now on, at the start and whenever that has
   *     changed; zero if nothing is left of the work of a claim that cannot be renewed
   */
  TaskRun(Assignment assignment, RunnerContext context, Consumer<Duration> holds) {
    this.assignment = assignment;
    this.context = context;
    this.holds = holds;
  }

  Assignment assignment() {
    return assignment;
  }

  /** Whether threads of its work are left in this process, so that it cannot run other tasks. */
  boolean leavesThreads() {
    return leavesThreads;
  }

  /** Does the whole work, and reports it unless the claim is lost. */
  void carryOut() throws InterruptedException {
    MDC.put("task", assignment.task().toString());
    try {
      carryOutNamed();
    } finally {
      MDC.remove("task");
    }
  }

  private void carryOutNamed() throws InterruptedException {
    QueueBackend.Runs runs = context.server().queues().runs();
    Duration lease = assignment.terms().lease();
    AtomicLong sent = new AtomicLong();
    Started started;
    try {
      started =
          StoreRetry.untilAnswered(
              "the start of task " + assignment.task(),
              () -> {
                sent.set(System.nanoTime());
                return runs.begin(assignment.run(), context.identity().toString(), lease);
              });
      Run run = started.run();
      try (LeaseKeeper keeper =
          new LeaseKeeper(
              context.tools().schedule().timers(), lease, () -> renew(run), new LeaseListener())) {
        keeper.begin(sent.get());
        context.work().prepare();
        try {
          perform(started, sent.get());
        } finally {
          context.work().clear();
        }
      }
    } catch (LostClaimException e) {
      LOG.info("{}", e.getMessage());
    }
  }

  private boolean renew(Run run) {
    try {
      context.server().queues().runs().renew(run, assignment.terms().lease());
      return true;
    } catch (LostClaimException e) {
      LOG.warn("{}", e.getMessage());
      return false;
    }
  }

  private void perform(Started started, long beganNanos) throws InterruptedException {
    Outputs outputs = new Outputs(assignment, context.folder(), context.server().blobs());
    Work.Result result =
        work(
            new RunTask(
                assignment,
                started.task(),
                started.task().span(started.run().claim().token()),
                context.folder(),
                outputs,
                context.tools().launcher()),
            new Ticks(outputs, beganNanos),
            started.run().timeoutMillis());
    Reporting reporting = new Reporting(context.server(), started, outputs);
    switch (interruption()) {
      case NONE -> reporting.report(result);
      case TIMEOUT -> {
        Duration timeout = Duration.ofMillis(started.run().timeoutMillis());
        reporting.report(
            new Work.Result(
                Status.FAILED,
                "it took longer than its timeout of " + DurationText.show(timeout),
                null,
                new RetryWish.IfFailed(new Failed(Run.TIMEOUT_CODE, null))));
      }
      case STOPPED -> reporting.report(new Work.Result(Status.TERMINATED, null, null));
      case LEASE -> {
        holds.accept(Duration.ZERO);
        reporting.report(
            new Work.Result(
                Status.ORPHANED, "its claim could not be renewed, so its work was ended", null));
      }
      case LOST -> reporting.drop();
    }
  }

  private Work.Result work(RunTask task, Ticks ticks, long timeoutMillis)
      throws InterruptedException {
    Schedule schedule = context.tools().schedule();
    ScheduledFuture<?> timeout = null;
    schedule.ticker().start(ticks::tick);
    try {
      Work begun = begin(task);
      if (timeoutMillis > 0) {
        timeout =
            schedule
                .guard()
                .schedule(
                    () -> interrupt(Interruption.TIMEOUT, TIMEOUT_GRACE),
                    timeoutMillis,
                    TimeUnit.MILLISECONDS);
      }
      Work.Result result = begun.await();
      leavesThreads = begun.leavesThreads();
      return result;
    } catch (PluginException e) {
      return Work.Result.failed(String.valueOf(e.getMessage()));
    } finally {
      schedule.ticker().stop();
      if (timeout != null) {
        timeout.cancel(false);
      }
      release();
    }
  }

  private Work begin(RunTask task) throws PluginException {
    RunnerContext.Tools tools = context.tools();
    Plugins.Ready ready = tools.plugins().find(assignment.terms().plugins(), assignment.plugin());
    synchronized (this) {
      if (interruption != Interruption.NONE) {
        throw new PluginException("the task was ended before its work began");
      }
      Work begun =
          switch (ready) {
            case Plugins.Program(var form) ->
                ProgramWork.start(form.call(task.params()), task, tools.watchdog());
            case Plugins.InProcess(var plugin) ->
                PluginWork.start(plugin, new PluginWork.InProcessTask(task), tools);
          };
      work = begun;
      return begun;
    }
  }

  /** What is done while the work goes on; all calls come one after the other. */
  private final class Ticks {
    private final Outputs outputs;
    private final long beganNanos;
    private final AtomicBoolean uploading = new AtomicBoolean();
    private int count;

    /**
     * Ticks that have not begun.
     *
     * @param beganNanos since when the claim lasts for a lease
     */
    Ticks(Outputs outputs, long beganNanos) {
      this.outputs = outputs;
      this.beganNanos = beganNanos;
    }

    void tick() {
      if (hasEnded()) {
        return;
      }
      if (count == 0) {
        // The node counts from the time of its message, perhaps before this process ran. Of a task
        // that is over before this, it hears the end.
        Duration lease = assignment.terms().lease();
        holds.accept(lease.minusNanos(System.nanoTime() - beganNanos));
      }
      outputs.cut();
      count++;
      if (count % UPLOAD_TICKS == 0 && uploading.compareAndSet(false, true)) {
        context.tools().schedule().upload().execute(this::upload);
      }
    }

    private void upload() {
      try {
        if (!hasEnded()) {
          outputs.upload();
        }
      } catch (IOException | RuntimeException e) {
        LOG.debug("output is stored later", e);
      } finally {
        uploading.set(false);
      }
    }
  }

  private synchronized boolean hasEnded() {
    return ended;
  }

  private synchronized Interruption interruption() {
    return interruption;
  }

  private synchronized void release() {
    work = null;
    ended = true;
  }

  /** Ends the work for an operator: TERM, and KILL after {@code grace}. */
  void stop(Duration grace) {
    interrupt(Interruption.STOPPED, grace);
  }

  private synchronized void interrupt(Interruption why, Duration grace) {
    if (ended) {
      // Its report says how, whatever happens to the claim.
      return;
    }
    boolean first = interruption == Interruption.NONE;
    if (why.compareTo(interruption) > 0) {
      interruption = why;
    }
    Work now = work;
    if (now == null) {
      return;
    }
    if (!grace.isPositive()) {
      now.kill();
      return;
    }
    if (first) {
      now.terminate();
    }
    var guard = context.tools().schedule().guard();
    var _ = guard.schedule(() -> kill(now), grace.toNanos(), TimeUnit.NANOSECONDS);
  }

  private synchronized void kill(Work late) {
    if (late.equals(work)) {
      late.kill();
    }
  }

  /** Interrupts the work if the claim is lost or may be. */
  private final class LeaseListener implements LeaseKeeper.Listener {
    @Override
    public void renewed(Duration left) {
      holds.accept(left);
    }

    @Override
    public void endsIn(Duration left) {
      interrupt(Interruption.LEASE, left.dividedBy(2));
      if (hasEnded()) {
        // Only its report is due; the node need not end work that is over.
        holds.accept(Duration.ZERO);
      }
    }

    @Override
    public void lost() {
      interrupt(Interruption.LOST, Duration.ZERO);
    }
  }

  /** Stores the end of a run: the output first, then the report that names it. */
  private static final class Reporting {
    /** How often storing output may fail although the server answers otherwise. */
    private static final int ATTEMPTS = 4;

    private final RunnerContext.Server server;
    private final Started started;
    private final Outputs outputs;

    Reporting(RunnerContext.Server server, Started started, Outputs outputs) {
      this.server = server;
      this.started = started;
      this.outputs = outputs;
    }

    /**
     * Reports, however long it takes.
     *
     * @throws LostClaimException if the claim is lost; nothing is left of the output then
     */
    void report(Work.Result result) throws InterruptedException {
      String complaint = result.complaint();
      Outputs.Settled settled =
          outputs.settle(complaint, () -> server.queues().newId(), this::store);
      String reason = join(result.reason(), settled.loss());
      String log = result.status() == Status.SUCCEEDED ? null : outputs.lastText();
      Report report =
          new Report(
              result.status(), settled.output(), settled.files(), reason, result.wish(), log);
      try {
        finish(report);
      } catch (LostClaimException e) {
        drop();
        throw e;
      } catch (InvalidRequestException e) {
        // The status is more important than the output.
        String why = join(reason, "the output was not taken: " + e.getMessage());
        finish(new Report(result.status(), TaskOutput.NONE, List.of(), why, result.wish(), log));
      }
      outputs.forgetAllBut(report.output());
    }

    private void finish(Report report) throws InterruptedException {
      StoreRetry.untilAnswered(
          "the report on task " + task(), () -> server.queues().runs().finish(started, report));
    }

    private ObjectId task() {
      return started.run().task();
    }

    /** Deletes the output of a run whose claim is lost. */
    void drop() {
      outputs.forgetAllBut(TaskOutput.NONE);
    }

    /** Retries while the server cannot be reached, and gives up if it refuses. */
    private boolean store(Capture capture, long bytes) throws InterruptedException {
      StoreRetry retry = new StoreRetry();
      int refusals = 0;
      while (true) {
        try {
          capture.settle(server.blobs().get(), bytes);
          return true;
        } catch (IOException e) {
          capture.lost("could not be read: " + e);
          return false;
        } catch (RuntimeException e) {
          if (isThere()) {
            refusals++;
          }
          if (refusals == ATTEMPTS) {
            capture.lost("could not be stored: " + e.getMessage());
            return false;
          }
          retry.pause("storing the output of task " + task(), e);
        }
      }
    }

    private boolean isThere() {
      try {
        server.queues().runs().find(task());
        return true;
      } catch (RuntimeException e) {
        return false;
      }
    }

    private static @Nullable String join(@Nullable String first, @Nullable String second) {
      if (first == null) {
        return second;
      }
      return second == null ? first : first + "; " + second;
    }
  }

  /** Retries one operation while the server cannot be reached. */
  private static final class StoreRetry {
    private final Backoff backoff =
        Backoff.untilAnswered(Duration.ofMillis(50), Duration.ofSeconds(2));

    /**
     * Repeats an operation until there is an answer, however long that takes.
     *
     * @param what a name for the operation, for the log
     * @throws LostClaimException if the claim is lost
     * @throws InvalidRequestException if the store would never accept it
     */
    static <T> T untilAnswered(String what, Supplier<T> operation) throws InterruptedException {
      StoreRetry retry = new StoreRetry();
      while (true) {
        try {
          return operation.get();
        } catch (LostClaimException | InvalidRequestException e) {
          throw e;
        } catch (RuntimeException e) {
          retry.pause(what, e);
        }
      }
    }

    /** Pauses after a failure; the first one is logged. */
    void pause(String what, Exception failure) throws InterruptedException {
      if (!backoff.hasFailed()) {
        LOG.warn("{} is tried again until it succeeds: {}", what, failure.toString());
      }
      backoff.pause();
    }
  }
}
