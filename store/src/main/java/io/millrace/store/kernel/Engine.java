package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore.ReachedLimit;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.decisions.Decider;
import io.millrace.store.kernel.decisions.Decider.Decision;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.State;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Executes commands: decides, records, applies. For use by the loop's thread. */
final class Engine {
  private final Environment environment;
  private final RandomGenerator random;
  private final State state;
  private final History history;
  private final Decider decider;
  private final JournalFeed feed;
  private final Counters counters = new Counters();
  private final long lapsedBefore;

  /** An engine for a recovered state that records commits in {@code feed}. */
  Engine(StoreOptions options, Replayer.Recovered recovered, JournalFeed feed) {
    this.environment = options.environment();
    this.random = environment.newRandom();
    this.state = recovered.state();
    this.lapsedBefore = state.lapsedClaims();
    this.history = recovered.history();
    this.decider = new Decider(state, options.limits(), options.ids());
    this.feed = feed;
  }

  State state() {
    return state;
  }

  History history() {
    return history;
  }

  Counters counters() {
    return counters;
  }

  /** The position of the state. */
  Position position() {
    return position(state.commits());
  }

  Position position(long number) {
    return new Position(history.id(), number);
  }

  /**
   * Executes a command: applies its changes and adds them to the feed.
   *
   * @return the outcome; null for a claim that found nothing and may wait
   */
  @Nullable Outcome execute(Command command, long nowMillis) {
    return switch (decider.decide(command, nowMillis, random)) {
      case Decision.Accepted accepted -> accept(command, accepted, nowMillis);
      case Decision.Nothing _ -> {
        if (command instanceof Claim claim) {
          countLimited(claim, nowMillis);
          if (claim.waitMillis() > 0) {
            yield null;
          }
          counters.empty++;
        }
        yield new Outcome.Done(position(), nowMillis, List.of(), List.of(), false);
      }
      case Decision.Repeated(Event event) -> {
        counters.repeated++;
        yield new Outcome.Done(
            position(event.number()), event.timeMillis(), event.tasks(), event.documents(), true);
      }
      case Decision.Refused(List<Reason> reasons) -> refuse(reasons, nowMillis);
    };
  }

  /** Counts a claim that takes nothing if it found tasks, so that a limit was reached. */
  private void countLimited(Claim claim, long nowMillis) {
    for (String name : claim.groups()) {
      Group group = state.group(name);
      if (group != null && group.waitingCount() > 0) {
        counters.limited++;
        ReachedLimit limit = group.reached(nowMillis);
        if (counters.reached.size() < Counters.MOST_LIMITS || counters.reached.containsKey(limit)) {
          counters.reached.merge(limit, 1L, Long::sum);
        }
        return;
      }
    }
  }

  /** How many claims have ended because their lease did, since the store was opened. */
  long lapsedClaims() {
    return state.lapsedClaims() - lapsedBefore;
  }

  Outcome.Refused refuse(List<Reason> reasons, long nowMillis) {
    counters.refused++;
    return new Outcome.Refused(position(), nowMillis, reasons);
  }

  private static Reason full(Journal.Shortage shortage, boolean grows) {
    return Reason.of(
        Reason.Kind.FULL,
        (grows
                ? "the store accepts no growth now, only claims, deletes and shrinking updates: "
                : "the journal is full for now: ")
            + shortage.why());
  }

  private Outcome accept(Command command, Decision.Accepted accepted, long nowMillis) {
    boolean override = command instanceof Transaction transaction && transaction.override();
    Event event =
        new Event(
            state.commits() + 1,
            nowMillis,
            command.client(),
            override,
            accepted.changes(),
            accepted.request());
    Journal.Shortage shortage = feed.shortage();
    if (shortage != null && (accepted.growthBytes() > 0 || !feed.hasRoom(event, shortage))) {
      return refuse(List.of(full(shortage, accepted.growthBytes() > 0)), nowMillis);
    }
    feed.add(event, environment.nanos());
    state.apply(event);
    if (command instanceof Claim) {
      counters.claimed++;
    } else {
      counters.committed++;
    }
    return new Outcome.Done(position(), nowMillis, event.tasks(), event.documents(), false);
  }

  /** Counters since the store was opened; for the loop's thread. */
  static final class Counters {
    long committed;
    long claimed;
    long empty;
    long refused;
    long repeated;
    long limited;
    final Map<ReachedLimit, Long> reached = new HashMap<>();

    private static final int MOST_LIMITS = 1_000;
  }
}
