package io.millrace.schedules;

import io.millrace.schedules.Planner.Plan;
import io.millrace.schedules.Planner.Start;
import io.millrace.schedules.ScheduleSession.Stored;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.ScheduleState.Result;
import io.millrace.schedules.ScheduleState.Run;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Transaction;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the runs of all schedules when they are due, and notes how they end. Each decision is
 * committed together with the runs that it starts, at the versions that it was made from: if it is
 * made twice, by two servers or after a crash, one of the commits is refused. So there may be any
 * number of runners on one store.
 *
 * <p>Only the times at which schedules are due are kept in memory. One thread steps it; {@link
 * #changed}, {@link #lookAgain} and {@link #lookAtRuns} may be called by others, and are to be
 * followed by a step.
 */
final class ScheduleRunner implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(ScheduleRunner.class);

  /** When a schedule is looked at again that could not be dealt with. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private final ScheduleSession session;
  private final Figures figures;
  private final Map<String, Known> schedules = new HashMap<>();
  private final NavigableSet<Due> dues = new TreeSet<>();

  /** Which schedule an active run belongs to. */
  private final Map<RunKey, String> runs = new ConcurrentHashMap<>();

  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  private int paused;
  private volatile boolean everything = true;

  ScheduleRunner(ScheduleSession session, Figures figures) {
    this.session = session;
    this.figures = figures;
  }

  private record RunKey(String collection, String id) {}

  /** When a schedule is due; several at the same time are ordered by name. */
  private record Due(Instant time, String name) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = time.compareTo(other.time);
      return byTime == 0 ? name.compareTo(other.name) : byTime;
    }
  }

  /**
   * What is known of a schedule.
   *
   * @param due when it is due; {@link Step#NEVER} for never
   * @param runs its active runs
   */
  private record Known(Instant due, boolean paused, Set<RunKey> runs) {
    static final Known NOTHING = new Known(NEVER, false, Set.of());
  }

  /** Takes note of a commit: of changes of schedules, and of documents of their runs. */
  void changed(Commit commit) {
    commit.forEachDocument((key, _) -> {
      switch (key.collection()) {
        case ScheduleSession.FORMS, ScheduleSession.STATES -> changed.add(key.key());
        default -> {
          Target target = session.keeping(key.collection());
          String id = target == null ? null : target.runOf(key);
          String name = id == null ? null : runs.get(new RunKey(key.collection(), id));
          if (name != null) {
            changed.add(name);
          }
        }
      }
    });
  }

  /** Whether something has changed since the last step. */
  boolean hasChanges() {
    return everything || !changed.isEmpty();
  }

  /** Reads all schedules at the next step, since changes may have been overlooked. */
  void lookAgain() {
    everything = true;
  }

  /** Looks at all active runs at the next step, since their ends may have been overlooked. */
  void lookAtRuns() {
    changed.addAll(runs.values());
  }

  /** Whether a run is active. */
  boolean hasRuns() {
    return !runs.isEmpty();
  }

  @Override
  public Instant step(Instant now) {
    if (everything) {
      for (Document form : session.pages(ScheduleSession.FORMS)) {
        changed.add(form.key().key());
      }
      changed.addAll(schedules.keySet());
      everything = false;
    }
    for (String name : List.copyOf(changed)) {
      changed.remove(name);
      look(name, now);
    }
    List<String> due = new ArrayList<>();
    for (Due next : dues) {
      if (next.time().isAfter(now)) {
        break;
      }
      due.add(next.name());
    }
    due.forEach(name -> look(name, now));
    figures.show(schedules.size(), paused, runs.size());
    return dues.isEmpty() ? NEVER : dues.getFirst().time();
  }

  /** Deals with one schedule. If that fails, the others go on, and it is tried again later. */
  private void look(String name, Instant now) {
    try {
      session.retry(
          "schedule '" + name + "'",
          () -> {
            Optional<Stored> stored = session.find(name);
            if (stored.isEmpty()) {
              forget(name);
              return true;
            }
            return advance(stored.get(), now) ? true : null;
          });
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.warn("schedule '{}' failed; the next try comes in a second", name, e);
      Known before = schedules.getOrDefault(name, Known.NOTHING);
      know(name, new Known(now.plus(AFTER_FAILURE), before.paused(), before.runs()));
    }
  }

  private void forget(String name) {
    know(name, Known.NOTHING);
    schedules.remove(name);
  }

  private void know(String name, Known known) {
    Known before = schedules.put(name, known);
    if (before != null) {
      dues.remove(new Due(before.due(), name));
      before.runs().stream().filter(run -> !known.runs().contains(run)).forEach(runs::remove);
      paused -= before.paused() ? 1 : 0;
    }
    if (!known.due().equals(NEVER)) {
      dues.add(new Due(known.due(), name));
    }
    known.runs().forEach(run -> runs.put(run, name));
    paused += known.paused() ? 1 : 0;
  }

  /** Notes ends and starts what is due; false if something changed in between. */
  private boolean advance(Stored stored, Instant now) {
    Schedule schedule = stored.schedule();
    Target target = session.target(schedule.target());
    ScheduleState noted = noteEnds(target, stored, now);
    Plan plan = Planner.plan(schedule, noted, now, target.maxStarts());
    ScheduleState state = plan.state();
    if (!state.equals(stored.state()) || !plan.starts().isEmpty()) {
      ScheduleState stays = commit(stored, plan, now);
      if (stays == null) {
        return false;
      }
      state = stays;
      figures.count(state.counts().minus(stored.state().counts()));
    }
    Set<RunKey> active =
        state.active().stream()
            .map(run -> new RunKey(target.collection(), run.id()))
            .collect(Collectors.toUnmodifiableSet());
    boolean pauses = state.pause() != null;
    Instant due = pauses || plan.due() == null ? NEVER : plan.due();
    know(stored.name(), new Known(due, pauses, active));
    for (Run run : state.active()) {
      if (run.cancelled()) {
        target.cancel(run.id());
      }
    }
    return true;
  }

  private static ScheduleState noteEnds(Target target, Stored stored, Instant now) {
    ScheduleState state = stored.state();
    for (Run run : stored.state().active()) {
      Target.End end = target.end(run.id()).orElse(null);
      if (end != null) {
        state = state.ended(ended(run, end, now), stored.schedule().pauseAfter());
      }
    }
    return state;
  }

  private static Result ended(Run run, Target.End end, Instant now) {
    // Some targets call it a failure.
    Ending ending =
        run.cancelled() && end.ending() == Ending.FAILED ? Ending.CANCELLED : end.ending();
    return new Result(
        run.id(), run.nominal(), run.started(), now, run.cause(), ending, end.reason());
  }

  /** Commits a plan with its starts; null if something changed in between. */
  private @Nullable ScheduleState commit(Stored stored, Plan plan, Instant now) {
    if (plan.starts().isEmpty()) {
      return commit(stored, plan.state());
    }
    List<Target.Request> runs =
        plan.starts().stream()
            .map(start -> new Target.Request(stored.name(), start.nominal(), now, start.cause()))
            .toList();
    List<ScheduleState> states = new ArrayList<>(1);
    try {
      boolean done =
          session.start(
              stored,
              runs,
              ids -> {
                states.add(started(plan, ids, now));
                return states.getLast();
              });
      return done ? states.getLast() : null;
    } catch (InvalidScheduleException e) {
      return commit(stored, failed(stored, plan, String.valueOf(e.getMessage()), now));
    }
  }

  private @Nullable ScheduleState commit(Stored stored, ScheduleState state) {
    Transaction.Builder transaction = ScheduleSession.change(session.begin(), stored, state);
    return session.tryCommit(transaction.build()) == null ? null : state;
  }

  private static ScheduleState started(Plan plan, List<String> ids, Instant now) {
    ScheduleState state = plan.state();
    for (int i = 0; i < ids.size(); i++) {
      Start start = plan.starts().get(i);
      state = state.started(new Run(ids.get(i), start.nominal(), now, start.cause(), false));
    }
    return state;
  }

  /** The state if the starts are not possible. */
  private static ScheduleState failed(Stored stored, Plan plan, String reason, Instant now) {
    ScheduleState state = plan.state();
    for (Start start : plan.starts()) {
      Result result =
          new Result("", start.nominal(), now, now, start.cause(), Ending.FAILED, reason);
      state = state.ended(result, stored.schedule().pauseAfter());
    }
    return state;
  }
}
