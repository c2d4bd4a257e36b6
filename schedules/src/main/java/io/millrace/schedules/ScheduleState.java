package io.millrace.schedules;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How far a schedule has come. Immutable.
 *
 * @param cursor every nominal time up to this one has been dealt with
 * @param waiting nominal times whose runs wait for the end of an earlier one, in order
 * @param active runs that have not ended
 * @param backfills ranges whose times are run again, in the order of the requests
 * @param ran which nominal times have had their run, as closed ranges in order; within a range, all
 *     nominal times have
 * @param counts what has happened so far
 * @param lastMissed the last run that was counted as missed; null if there is none, or an older
 *     version counted it
 * @param failuresInRow how many runs have failed since the last success
 * @param pause why it does not run; null if it does
 * @param results the last runs that have ended, newest first
 */
public record ScheduleState(
    Instant cursor,
    List<Instant> waiting,
    List<Run> active,
    List<Backfill> backfills,
    List<Range> ran,
    Counts counts,
    @Nullable MissedRun lastMissed,
    int failuresInRow,
    @Nullable Pause pause,
    List<Result> results) {
  /** How many results are kept. */
  public static final int RESULTS = 20;

  /** How many ranges of runs are remembered; the oldest are forgotten first. */
  static final int RANGES = 500;

  public ScheduleState {
    waiting = List.copyOf(waiting);
    active = List.copyOf(active);
    backfills = List.copyOf(backfills);
    ran = List.copyOf(ran);
    results = List.copyOf(results);
  }

  /** Why a run was started. */
  public enum Cause {
    /** Its time came. */
    TIME,
    /** A backfill covers its time. */
    BACKFILL,
    /** A person asked for it. */
    MANUAL
  }

  /** How a run ended. */
  public enum Ending {
    /** It succeeded. */
    SUCCEEDED,
    /** It failed, or could not be started. */
    FAILED,
    /** It was cancelled or held back. */
    CANCELLED,
    /** It was deleted before its end was seen. */
    UNKNOWN
  }

  /**
   * A run that has not ended.
   *
   * @param id its id in its target
   * @param nominal the nominal time; for a manual run, when it was asked for
   * @param started when it was started
   * @param cause why
   * @param cancelled whether it is to be cancelled, because the next one is due
   */
  public record Run(String id, Instant nominal, Instant started, Cause cause, boolean cancelled) {}

  /**
   * A run that has ended.
   *
   * @param id its id in its target; empty if it could not be started
   * @param nominal the nominal time; for a manual run, when it was asked for
   * @param started when it was started
   * @param ended when its end was seen
   * @param cause why it was started
   * @param ending how it ended
   * @param reason why it ended so, if that is known
   */
  public record Result(
      String id,
      Instant nominal,
      Instant started,
      Instant ended,
      Cause cause,
      Ending ending,
      @Nullable String reason) {}

  /**
   * A range of nominal times that are to be run, if they have not been.
   *
   * @param after the times up to this one have been dealt with
   * @param until the last time, inclusive
   */
  public record Backfill(Instant after, Instant until) {}

  /** A closed range. */
  public record Range(Instant first, Instant last) {
    boolean covers(Instant time) {
      return !time.isBefore(first) && !time.isAfter(last);
    }
  }

  /**
   * A run that was missed.
   *
   * @param nominal when it would have run
   * @param noticed when it was counted as missed
   */
  public record MissedRun(Instant nominal, Instant noticed) {}

  /**
   * A pause.
   *
   * @param since when it began
   * @param note why, for people; may be empty
   * @param failures whether it began because runs failed
   */
  public record Pause(Instant since, String note, boolean failures) {}

  /**
   * What has happened so far.
   *
   * @param started runs that were started
   * @param succeeded runs that succeeded
   * @param failed runs that failed or could not be started
   * @param missed times that passed unnoticed and were not caught up
   * @param skipped runs that were left out because an earlier one had not ended
   */
  public record Counts(long started, long succeeded, long failed, long missed, long skipped) {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0);

    Counts plus(Counts other) {
      return new Counts(
          started + other.started,
          succeeded + other.succeeded,
          failed + other.failed,
          missed + other.missed,
          skipped + other.skipped);
    }

    /** What has happened since an earlier state. */
    Counts minus(Counts earlier) {
      return new Counts(
          started - earlier.started,
          succeeded - earlier.succeeded,
          failed - earlier.failed,
          missed - earlier.missed,
          skipped - earlier.skipped);
    }
  }

  /** The state of a schedule that has just been created: it runs at times after {@code now}. */
  static ScheduleState begin(Instant now) {
    return new ScheduleState(
        now, List.of(), List.of(), List.of(), List.of(), Counts.NONE, null, 0, null, List.of());
  }

  /** The active run with this id. */
  Optional<Run> run(String id) {
    return active.stream().filter(run -> run.id().equals(id)).findFirst();
  }

  /** Whether a nominal time has had its run. */
  boolean hasRun(Instant nominal) {
    return ran.stream().anyMatch(range -> range.covers(nominal));
  }

  ScheduleState withCursor(Instant changed) {
    return new ScheduleState(
        changed,
        waiting,
        active,
        backfills,
        ran,
        counts,
        lastMissed,
        failuresInRow,
        pause,
        results);
  }

  ScheduleState withWaiting(List<Instant> changed) {
    return new ScheduleState(
        cursor, changed, active, backfills, ran, counts, lastMissed, failuresInRow, pause, results);
  }

  ScheduleState withActive(List<Run> changed) {
    return new ScheduleState(
        cursor,
        waiting,
        changed,
        backfills,
        ran,
        counts,
        lastMissed,
        failuresInRow,
        pause,
        results);
  }

  ScheduleState withBackfills(List<Backfill> changed) {
    return new ScheduleState(
        cursor, waiting, active, changed, ran, counts, lastMissed, failuresInRow, pause, results);
  }

  private ScheduleState withRan(List<Range> changed) {
    return new ScheduleState(
        cursor,
        waiting,
        active,
        backfills,
        changed,
        counts,
        lastMissed,
        failuresInRow,
        pause,
        results);
  }

  ScheduleState counting(Counts more) {
    return new ScheduleState(
        cursor,
        waiting,
        active,
        backfills,
        ran,
        counts.plus(more),
        lastMissed,
        failuresInRow,
        pause,
        results);
  }

  /** With a time that has passed without a run, which is noticed now. */
  ScheduleState missed(Instant nominal, Instant now) {
    MissedRun last = new MissedRun(nominal, now);
    Counts more = counts.plus(new Counts(0, 0, 0, 1, 0));
    return new ScheduleState(
        cursor, waiting, active, backfills, ran, more, last, failuresInRow, pause, results);
  }

  ScheduleState withPause(@Nullable Pause changed) {
    int failures = changed == null ? 0 : failuresInRow;
    return new ScheduleState(
        cursor, waiting, active, backfills, ran, counts, lastMissed, failures, changed, results);
  }

  /** With a run of a nominal time noted, between its neighbours. */
  ScheduleState noteRan(Timetable times, Instant nominal) {
    List<Range> ranges = new ArrayList<>(ran);
    int at = 0;
    while (at < ranges.size() && ranges.get(at).last().isBefore(nominal)) {
      at++;
    }
    Range made = new Range(nominal, nominal);
    if (at < ranges.size() && ranges.get(at).covers(nominal)) {
      return this;
    }
    if (at < ranges.size() && ranges.get(at).first().equals(times.next(nominal))) {
      made = new Range(nominal, ranges.remove(at).last());
    }
    if (at > 0 && nominal.equals(times.next(ranges.get(at - 1).last()))) {
      at--;
      made = new Range(ranges.remove(at).first(), made.last());
    }
    ranges.add(at, made);
    return withRan(
        ranges.size() > RANGES ? ranges.subList(ranges.size() - RANGES, ranges.size()) : ranges);
  }

  /** With a run that was started. */
  ScheduleState started(Run run) {
    return withActive(Stream.concat(active.stream(), Stream.of(run)).toList())
        .counting(new Counts(1, 0, 0, 0, 0));
  }

  /**
   * With a run that has ended, or could not be started.
   *
   * @param pauseAfter after how many failures in a row the schedule pauses; 0 for never
   */
  ScheduleState ended(Result result, int pauseAfter) {
    List<Run> left = active.stream().filter(run -> !run.id().equals(result.id())).toList();
    List<Result> last = Stream.concat(Stream.of(result), results.stream()).limit(RESULTS).toList();
    int failures =
        switch (result.ending()) {
          case FAILED -> failuresInRow + 1;
          case SUCCEEDED -> 0;
          case CANCELLED, UNKNOWN -> failuresInRow;
        };
    Counts more =
        switch (result.ending()) {
          case FAILED -> new Counts(0, 0, 1, 0, 0);
          case SUCCEEDED -> new Counts(0, 1, 0, 0, 0);
          case CANCELLED, UNKNOWN -> Counts.NONE;
        };
    boolean pauses = pause == null && pauseAfter > 0 && failures >= pauseAfter;
    Pause now =
        pauses
            ? new Pause(
                result.ended(),
                failures + (failures == 1 ? " run" : " runs") + " in a row failed",
                true)
            : pause;
    return new ScheduleState(
        cursor, waiting, left, backfills, ran, counts.plus(more), lastMissed, failures, now, last);
  }
}
