package io.millrace.schedules;

import io.millrace.schedules.Schedule.Missed;
import io.millrace.schedules.Schedule.Overlap;
import io.millrace.schedules.ScheduleState.Backfill;
import io.millrace.schedules.ScheduleState.Cause;
import io.millrace.schedules.ScheduleState.Counts;
import io.millrace.schedules.ScheduleState.Run;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a schedule does at a moment: pure, so that every decision can be repeated and
 * tested. The same nominal time is never started twice, whatever the clock does: times up to the
 * cursor are never looked at again, and what has run is noted in {@link ScheduleState#ran}.
 */
final class Planner {
  /** A run that starts later than this after it was due was missed. */
  static final Duration LATE = Duration.ofMinutes(1);

  /** The most runs that wait. */
  static final int MAX_WAITING = 1_000;

  /** How many times are passed over in one plan. */
  private static final int MAX_PASSED = 50_000;

  private final Schedule schedule;
  private final Instant now;
  private final int maxStarts;
  private final List<Start> starts = new ArrayList<>();
  private ScheduleState state;
  private boolean more;

  private Planner(Schedule schedule, ScheduleState state, Instant now, int maxStarts) {
    this.schedule = schedule;
    this.state = state;
    this.now = now;
    this.maxStarts = maxStarts;
  }

  /** A run to start. */
  record Start(Instant nominal, Cause cause) {}

  /**
   * What to do.
   *
   * @param state the state afterwards, in which the starts are noted as having run, but are not
   *     active
   * @param starts what to start, in order
   * @param due when to plan again, if no run ends before; null for never, {@code now} for at once
   */
  record Plan(ScheduleState state, List<Start> starts, @Nullable Instant due) {}

  /**
   * Decides what is to be done now.
   *
   * @param maxStarts the most runs to start
   */
  static Plan plan(Schedule schedule, ScheduleState state, Instant now, int maxStarts) {
    return new Planner(schedule, state, now, maxStarts).plan();
  }

  private Plan plan() {
    if (state.pause() != null) {
      return new Plan(state, List.of(), null);
    }
    startWaiting();
    times();
    startWaiting();
    backfill();
    if (schedule.overlap() == Overlap.CANCEL && !state.waiting().isEmpty()) {
      state = state.withActive(state.active().stream().map(Planner::cancelled).toList());
      // What has only just been started is cancelled by the next plan.
      more |= !starts.isEmpty();
    }
    Instant next = schedule.times().next(state.cursor());
    Instant due = more ? now : next == null ? null : schedule.due(next);
    return new Plan(state, starts, due);
  }

  private boolean idle() {
    return state.active().isEmpty() && starts.isEmpty();
  }

  private boolean hasRoom() {
    return starts.size() < maxStarts;
  }

  private void startWaiting() {
    while (!state.waiting().isEmpty() && idle()) {
      List<Instant> waiting = state.waiting();
      state = state.withWaiting(waiting.subList(1, waiting.size()));
      start(waiting.getFirst(), Cause.TIME);
    }
  }

  private void start(Instant nominal, Cause cause) {
    if (!state.hasRun(nominal)) {
      state = state.noteRan(schedule.times(), nominal);
      starts.add(new Start(nominal, cause));
    }
  }

  private void times() {
    Instant kept = null;
    for (int passed = 0; ; passed++) {
      Instant nominal = schedule.times().next(state.cursor());
      if (nominal == null || schedule.due(nominal).isAfter(now)) {
        break;
      }
      if (passed == MAX_PASSED || !hasRoom()) {
        more = true;
        break;
      }
      boolean late = schedule.due(nominal).isBefore(now.minus(LATE));
      if (late && schedule.missed() == Missed.LAST) {
        // It is the last one only if none follows that is due.
        Instant next = schedule.times().next(nominal);
        kept = next == null || schedule.due(next).isAfter(now) ? nominal : null;
        state = state.withCursor(nominal);
        if (kept == null) {
          state = state.missed(nominal, now);
        }
      } else {
        state = state.withCursor(nominal);
        boolean caughtUp =
            schedule.missed() == Missed.ALL && !nominal.isBefore(now.minus(schedule.window()));
        if (late && !caughtUp) {
          state = state.missed(nominal, now);
        } else {
          arrive(nominal);
        }
      }
    }
    if (kept != null) {
      arrive(kept);
    }
  }

  private void count(Counts counts) {
    state = state.counting(counts);
  }

  /** Starts the run of a time, or does what is said for runs that overlap. */
  private void arrive(Instant nominal) {
    if (schedule.overlap() == Overlap.ALLOW || (idle() && state.waiting().isEmpty())) {
      start(nominal, Cause.TIME);
      return;
    }
    List<Instant> waiting = new ArrayList<>(state.waiting());
    switch (schedule.overlap()) {
      case QUEUE_ONE, QUEUE_ALL -> {
        int most = schedule.overlap() == Overlap.QUEUE_ONE ? 1 : MAX_WAITING;
        if (waiting.size() < most) {
          waiting.add(nominal);
        } else {
          count(new Counts(0, 0, 0, 0, 1));
        }
      }
      case CANCEL -> {
        count(new Counts(0, 0, 0, 0, waiting.size()));
        waiting = List.of(nominal);
      }
      case SKIP, ALLOW -> count(new Counts(0, 0, 0, 0, 1));
    }
    state = state.withWaiting(waiting);
  }

  private static Run cancelled(Run run) {
    return new Run(run.id(), run.nominal(), run.started(), run.cause(), true);
  }

  private void backfill() {
    boolean together = schedule.overlap() == Overlap.ALLOW;
    int passed = 0;
    while (!state.backfills().isEmpty() && (together || idle()) && state.waiting().isEmpty()) {
      if (!hasRoom() || passed++ == MAX_PASSED) {
        more = true;
        return;
      }
      List<Backfill> left = new ArrayList<>(state.backfills());
      Backfill first = left.removeFirst();
      Instant nominal = schedule.times().next(first.after());
      if (nominal == null || nominal.isAfter(first.until())) {
        state = state.withBackfills(left);
      } else {
        left.addFirst(new Backfill(nominal, first.until()));
        state = state.withBackfills(left);
        start(nominal, Cause.BACKFILL);
      }
    }
  }
}
