package io.millrace.schedules;

import io.millrace.schedules.ScheduleSession.Stored;
import io.millrace.schedules.ScheduleState.Backfill;
import io.millrace.schedules.ScheduleState.Cause;
import io.millrace.schedules.ScheduleState.Pause;
import io.millrace.schedules.ScheduleState.Run;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.schedules.SchedulesException.NoScheduleException;
import io.millrace.schedules.SchedulesException.ScheduleStateException;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The schedules of a store: the entry of this module. Safe for use by any number of threads; there
 * may be several for one store, on several servers.
 */
public final class Schedules {
  /** The most backfills of a schedule that wait. */
  private static final int MAX_BACKFILLS = 20;

  /** The most times that are given at once. */
  public static final int MAX_TIMES = 1_000;

  /** The longest note of a pause, in characters. */
  private static final int MAX_NOTE_CHARS = 1_000;

  private final ScheduleSession session;
  private final InstantSource clock;
  private final Figures figures = new Figures();

  private Schedules(ScheduleSession session, InstantSource clock) {
    this.session = session;
    this.clock = clock;
  }

  /**
   * The schedules of {@code store}.
   *
   * @param targets what they can run
   * @param clock the time of day
   * @param random draws client ids; used under a lock
   */
  public static Schedules in(
      TaskStore store, List<Target> targets, InstantSource clock, RandomGenerator random) {
    Map<String, Target> byField =
        targets.stream().collect(Collectors.toMap(Target::field, Function.identity()));
    return new Schedules(new ScheduleSession(store, random, byField), clock);
  }

  /** A schedule with how far it has come. */
  public record View(Schedule schedule, Instant created, ScheduleState state) {
    /** When its next run is due, if it is not paused and no run ends before. */
    public Optional<Instant> due() {
      Instant next = state.pause() == null ? schedule.times().next(state.cursor()) : null;
      return Optional.ofNullable(next).map(schedule::due);
    }
  }

  /** The activity that starts what is due. */
  public interface Running extends AutoCloseable {
    /** Ends it, before the store is closed; waits for a step under way. */
    @Override
    void close();
  }

  /** Starts what is due until the result is closed. */
  public Running run() {
    return ScheduleLoop.start(session, runner(), clock);
  }

  /** What is to be stepped, for {@link #run} and for simulations. */
  ScheduleRunner runner() {
    return new ScheduleRunner(session, figures);
  }

  /** What has been done here. */
  public Figures figures() {
    return figures;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /**
   * Creates a schedule, or changes it: how far it has come stays, and so do its runs. Times that it
   * names by then and that have passed are not run, unless they are backfilled.
   *
   * @param form its JSON form
   * @throws InvalidScheduleException if it is not valid, with the field that is wrong
   */
  public View put(String name, ObjectNode form) {
    Schedule.checkName(name);
    return session.retry(
        "schedule '" + name + "'",
        () -> {
          Stored old = session.find(name).orElse(null);
          Instant now = now();
          Instant created = old == null ? now : old.created();
          Schedule schedule = checked(name, form, created);
          Transaction.Builder transaction = session.begin();
          ScheduleState state = old == null ? ScheduleState.begin(now) : old.state();
          if (old != null && !schedule.hasTimesOf(old.schedule())) {
            Instant cursor = state.cursor().isAfter(now) ? state.cursor() : now;
            state = state.withCursor(cursor).withWaiting(List.of()).withBackfills(List.of());
          }
          if (old != null && !state.active().isEmpty() && !sameTarget(old.schedule(), schedule)) {
            throw new ScheduleStateException(
                "schedule '%s' has %d active runs; another kind of target can be given when they have ended"
                    .formatted(name, state.active().size()));
          }
          transaction
              .put(
                  ScheduleSession.form(name),
                  old == null ? DocumentVersion.ABSENT : old.formVersion(),
                  ScheduleSession.write(schedule, created))
              .put(
                  ScheduleSession.state(name),
                  old == null ? DocumentVersion.ABSENT : old.stateVersion(),
                  Json.write(state));
          return session.tryCommit(transaction.build()) == null
              ? null
              : new View(schedule, created, state);
        });
  }

  private boolean sameTarget(Schedule one, Schedule other) {
    return session.target(one.target()).equals(session.target(other.target()));
  }

  private Schedule checked(String name, ObjectNode form, Instant anchor) {
    Schedule schedule = Schedule.read(name, form, anchor);
    Target target = session.target(schedule.target());
    target.check(schedule.target());
    if (schedule.times().next(anchor.minusMillis(1)) == null
        && schedule.times().next(Instant.EPOCH) == null) {
      throw new InvalidScheduleException("times", "every time of this schedule is excluded");
    }
    return schedule;
  }

  /** The schedule of this name. */
  public Optional<View> find(String name) {
    return session.find(name).map(Schedules::view);
  }

  /**
   * The schedule of this name.
   *
   * @throws NoScheduleException if there is none
   */
  public View get(String name) {
    return find(name).orElseThrow(() -> new NoScheduleException(name));
  }

  private static View view(Stored stored) {
    return new View(stored.schedule(), stored.created(), stored.state());
  }

  /**
   * Schedules in the order of their names.
   *
   * @param prefix what their names begin with; empty for all
   * @param after only names greater than this; empty for all
   * @param limit the most to give
   * @param wanted which of them
   */
  public List<View> list(String prefix, String after, int limit, Predicate<View> wanted) {
    List<View> found = new ArrayList<>();
    for (Document form : session.pages(ScheduleSession.FORMS, prefix, after)) {
      if (found.size() == limit) {
        break;
      }
      session.find(form.key().key()).map(Schedules::view).filter(wanted).ifPresent(found::add);
    }
    return found;
  }

  /**
   * Deletes a schedule. Its active runs go on.
   *
   * @throws NoScheduleException if there is none
   */
  public void delete(String name) {
    var _ =
        change(
            name,
            stored ->
                session
                    .begin()
                    .delete(ScheduleSession.form(name), stored.formVersion())
                    .delete(ScheduleSession.state(name), stored.stateVersion()));
  }

  private Stored change(String name, Function<Stored, Transaction.Builder> change) {
    return session
        .retry(
            "schedule '" + name + "'",
            () -> session.find(name),
            stored -> session.tryCommit(change.apply(stored).build()) == null ? null : stored)
        .orElseThrow(() -> new NoScheduleException(name));
  }

  private View changeState(String name, Function<Stored, ScheduleState> change) {
    List<View> made = new ArrayList<>(1);
    var _ =
        change(
            name,
            stored -> {
              ScheduleState state = change.apply(stored);
              made.clear();
              made.add(new View(stored.schedule(), stored.created(), state));
              return ScheduleSession.change(session.begin(), stored, state);
            });
    return made.getFirst();
  }

  /**
   * Pauses a schedule: no run starts by itself until it goes on, and active runs go on. A paused
   * one gets the new note.
   *
   * @param note why, up to 1,000 characters; may be empty
   * @throws NoScheduleException if there is none
   */
  public View pause(String name, String note) {
    if (note.length() > MAX_NOTE_CHARS) {
      throw new InvalidScheduleException(
          "note", "a note has at most " + MAX_NOTE_CHARS + " characters");
    }
    return changeState(
        name,
        stored -> {
          Pause old = stored.state().pause();
          Instant since = old == null ? now() : old.since();
          return stored.state().withPause(new Pause(since, note, false));
        });
  }

  /**
   * Ends a pause. Times that have passed meanwhile are not run, unless they are backfilled. Does
   * nothing if the schedule is not paused.
   *
   * @throws NoScheduleException if there is none
   */
  public View resume(String name) {
    return changeState(
        name,
        stored -> {
          ScheduleState state = stored.state();
          if (state.pause() == null) {
            return state;
          }
          Instant now = now();
          return state
              .withPause(null)
              .withCursor(state.cursor().isAfter(now) ? state.cursor() : now);
        });
  }

  /**
   * Starts a run at once, beside others, even if the schedule is paused.
   *
   * @return the run
   * @throws NoScheduleException if there is no such schedule
   * @throws InvalidScheduleException if it cannot be started
   */
  public Run runNow(String name) {
    Run run =
        session
            .retry("schedule '" + name + "'", () -> session.find(name), this::tryToRun)
            .orElseThrow(() -> new NoScheduleException(name));
    figures.count(new ScheduleState.Counts(1, 0, 0, 0, 0));
    return run;
  }

  private @Nullable Run tryToRun(Stored stored) {
    Instant now = now();
    List<Run> made = new ArrayList<>(1);
    Target.Request request = new Target.Request(stored.name(), now, now, Cause.MANUAL);
    boolean done =
        session.start(
            stored,
            List.of(request),
            ids -> {
              made.add(new Run(ids.getFirst(), now, now, Cause.MANUAL, false));
              return stored.state().started(made.getLast());
            });
    return done ? made.getLast() : null;
  }

  /**
   * Runs the nominal times of a range that have not had their run: missed and skipped ones, those
   * of a pause, and those before the schedule was created. They are run one after the other, or
   * together if runs may overlap.
   *
   * @param from the first time, inclusive
   * @param until the last time, inclusive; later ones than those that the schedule has dealt with
   *     are left to it
   * @return the times of the range that have not had their run, at most {@link #MAX_TIMES}
   * @throws NoScheduleException if there is no such schedule
   * @throws InvalidScheduleException if the range is empty, or reaches back further than it is
   *     known what has run
   */
  public List<Instant> backfill(String name, Instant from, Instant until) {
    if (until.isBefore(from)) {
      throw new InvalidScheduleException("until", "the range ends before it begins");
    }
    List<Instant> times = new ArrayList<>();
    var _ =
        changeState(
            name,
            stored -> {
              ScheduleState state = stored.state();
              if (state.backfills().size() == MAX_BACKFILLS) {
                throw new ScheduleStateException(
                    "%d backfills of schedule '%s' are waiting already"
                        .formatted(MAX_BACKFILLS, name));
              }
              if (state.ran().size() == ScheduleState.RANGES
                  && from.isBefore(state.ran().getFirst().first())) {
                throw new InvalidScheduleException(
                    "from", "it is not known what ran before " + state.ran().getFirst().first());
              }
              Instant last = until.isBefore(state.cursor()) ? until : state.cursor();
              Instant after = from.minusNanos(1);
              times.clear();
              missing(stored, after, last).limit(MAX_TIMES).forEach(times::add);
              return state.withBackfills(
                  Stream.concat(
                          state.backfills().stream(),
                          Stream.of(new Backfill(from.minusMillis(1), last)))
                      .toList());
            });
    return times;
  }

  private static Stream<Instant> missing(Stored stored, Instant after, Instant last) {
    Timetable timetable = stored.schedule().times();
    return Stream.iterate(
            timetable.next(after), time -> time != null && !time.isAfter(last), timetable::next)
        .filter(time -> !stored.state().hasRun(time));
  }

  /**
   * Reads and checks a schedule without storing it.
   *
   * @throws InvalidScheduleException if it is not valid, with the field that is wrong
   */
  public Schedule preview(ObjectNode form) {
    ObjectNode complete = form.deepCopy();
    if (complete.has("target")) {
      return checked("preview", complete, now());
    }
    // People try out times before they know what is to run.
    complete.putObject("target");
    return Schedule.read("preview", complete, now());
  }
}
