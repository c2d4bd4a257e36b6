package io.millrace.graph.schedule;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.Outcome;
import io.millrace.graph.Outcome.Cause;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.work.policy.RetryPolicy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Records the ends of attempts. One transaction at a time has all ends that came while the last one
 * was written. Ends whose output takes long to copy, and those that could not be written, are
 * recorded beside it, each by itself, so that none delays the others. For the scheduler's thread.
 */
final class EndRecorder {
  private static final Logger LOG = LoggerFactory.getLogger(EndRecorder.class);
  private static final int BATCH = 256;
  private static final long LONG_BYTES = 4L << 20;
  private static final long PAUSE_MILLIS = 1_000;

  private final GraphWork graph;
  private final Executor executor;
  private final RandomGenerator random;
  private final Consumer<SchedulerEvent> inbox;
  private final ArrayDeque<SchedulerEvent.End> waiting = new ArrayDeque<>();
  private boolean batchUnderWay;
  private int underWay;

  EndRecorder(GraphWork graph, SchedulerContext context, Consumer<SchedulerEvent> inbox) {
    this.graph = graph;
    this.executor = context.executor();
    this.random = context.random();
    this.inbox = inbox;
  }

  /** Adds an end to record. */
  void add(ActiveAttempt active, Attempt.Ending ending, long nowMillis) {
    Attempt attempt = active.attempt;
    Map<String, Tail> recordings = attempt == null ? Map.of() : attempt.recordings();
    waiting.add(
        new SchedulerEvent.End(
            active,
            new GraphWork.Ended(
                active.id,
                active.number,
                new OutcomeRules(active, nowMillis, random).of(ending),
                ending.values(),
                recordings),
            0));
  }

  /** How many ends are not recorded yet. */
  int waiting() {
    return waiting.size() + underWay;
  }

  /**
   * Begins to record the ends that were added.
   *
   * @return when something is to be tried again, in milliseconds since 1970
   */
  long write(long nowMillis) {
    long again = Long.MAX_VALUE;
    List<SchedulerEvent.End> batch = new ArrayList<>();
    ArrayDeque<SchedulerEvent.End> left = new ArrayDeque<>();
    while (!waiting.isEmpty()) {
      SchedulerEvent.End end = waiting.remove();
      if (end.notBeforeMillis() > nowMillis) {
        again = Math.min(again, end.notBeforeMillis());
        left.add(end);
      } else if (end.hasFailed() || isLong(end)) {
        write(List.of(end), false);
      } else if (batchUnderWay || batch.size() >= BATCH) {
        left.add(end);
      } else {
        batch.add(end);
      }
    }
    waiting.addAll(left);
    if (!batch.isEmpty()) {
      batchUnderWay = true;
      write(batch, true);
    }
    return again;
  }

  private void write(List<SchedulerEvent.End> ends, boolean batch) {
    underWay += ends.size();
    executor.execute(() -> {
      boolean stored = false;
      try {
        graph.end(ends.stream().map(SchedulerEvent.End::ended).toList());
        stored = true;
      } catch (RuntimeException e) {
        LOG.warn("{} ends of nodes cannot be stored, trying again: {}", ends.size(), e.toString());
      } finally {
        inbox.accept(new SchedulerEvent.Written(ends, stored, batch));
      }
    });
  }

  /**
   * Takes the result of recording. Ends that failed are recorded again, which does no harm if they
   * were recorded after all.
   */
  void written(SchedulerEvent.Written written, long nowMillis) {
    underWay -= written.ends().size();
    if (written.batch()) {
      batchUnderWay = false;
    }
    if (!written.stored()) {
      written.ends().forEach(end -> waiting.add(end.notBefore(nowMillis + PAUSE_MILLIS)));
    }
  }

  private static boolean isLong(SchedulerEvent.End end) {
    try {
      return end.ended().recordings().values().stream().mapToLong(Tail::size).sum() > LONG_BYTES;
    } catch (RuntimeException e) {
      // This is logged where it is copied.
      return true;
    }
  }

  /** Turns the end of an attempt into the outcome for its node. */
  private record OutcomeRules(ActiveAttempt active, long nowMillis, RandomGenerator random) {
    private static final int LONGEST_REASON = 1_000;

    /** The value with the exit code of a program; not a number if it has none. */
    private static final String RESULT = "result";

    /** The exit code of a program that was ended by KILL. */
    private static final int CODE_OF_KILL = 128 + 9;

    Outcome of(Attempt.Ending ending) {
      Kill kill = active.told;
      if (kill != null || active.killing) {
        // Even if it succeeded: after a kill, the nodes that follow must not run.
        return new Outcome.Killed(killed(kill, ending));
      }
      if (active.timedOut && active.isOverTotal(nowMillis)) {
        return new Outcome.Failed(active.timing.totalReason());
      }
      return switch (failure(ending)) {
        case null ->
            new Outcome.Finished(active.type.kind() == Kind.CONDITION ? ending.taken() : null);
        case Failure.Failed(String reason, RetryPolicy.Failed how) -> failed(reason, how);
        case Failure.Interrupted(String reason) -> interrupted(reason);
        case Failure.Snoozed snoozed -> snoozed(snoozed);
      };
    }

    private @Nullable Failure failure(Attempt.Ending ending) {
      if (active.timedOut) {
        return Failure.of("timed out after " + active.policy.timeoutText(), "timeout");
      }
      if (ending.failure() == null
          && active.type.kind() == Kind.CONDITION
          && ending.taken() == null) {
        return Failure.of("it chose neither then nor else");
      }
      return ending.failure();
    }

    private Outcome failed(String reason, RetryPolicy.Failed how) {
      return active
          .policy
          .retries()
          .retry(active.attempts.counted(), how, random)
          .<Outcome>map(
              pause -> new Outcome.Again(nowMillis + pause.toMillis(), Cause.FAILED, cut(reason)))
          .orElseGet(() -> new Outcome.Failed(cut(reason)));
    }

    private Outcome interrupted(String reason) {
      return active.attempts.interrupted() < active.policy.interruptions()
          ? new Outcome.Again(0, Cause.INTERRUPTED, cut(reason))
          : failed(reason, new RetryPolicy.Failed("interrupted", null));
    }

    private Outcome snoozed(Failure.Snoozed snoozed) {
      RetryPolicy policy = active.policy.retries();
      if (!policy.maySnooze(active.attempts.snoozed())) {
        return new Outcome.Failed("it snoozed more than " + policy.snoozes() + " times");
      }
      long pauseMillis = RetryPolicy.capped(snoozed.delay()).toMillis();
      return new Outcome.Again(nowMillis + pauseMillis, Cause.SNOOZED, snoozed.reason());
    }

    private static String cut(String reason) {
      return reason.length() > LONGEST_REASON ? reason.substring(0, LONGEST_REASON) + "…" : reason;
    }

    /** Only programs receive signals; their exit code tells whether a signal ended them. */
    private static String killed(@Nullable Kill kill, Attempt.Ending ending) {
      JsonNode code = ending.values().get(RESULT);
      if (kill == null || kill.grace().isZero() || code == null || !code.isInt()) {
        return "it was killed";
      }
      return code.intValue() == CODE_OF_KILL && !kill.signal().equals("KILL")
          ? "it outlived " + kill.signal() + " and was killed"
          : "it was killed by " + kill.signal();
    }
  }
}
