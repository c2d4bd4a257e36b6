package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.decisions.Decider;
import io.millrace.store.kernel.decisions.Decision;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.recovery.EventValidator;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.RecentRequests;
import io.millrace.store.kernel.state.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/** One seed's states and transactions, with what must hold at each step. */
final class TransactionRun {
  private static final int STEPS = 300;

  private final long seed;
  private final Random random;
  private final State state = new State();
  private final PlainStore plain;
  private final Limits limits;
  private final Decider decider;
  private final TransactionDice dice;
  private final Set<Kind> kinds = EnumSet.noneOf(Kind.class);
  private long now = 1_000_000;
  private int accepted;

  TransactionRun(long seed) {
    this.seed = seed;
    random = new Random(seed);
    // Some stores are about to run out of ids, and some of memory.
    long lastId = seed % 8 == 0 ? Limits.LARGEST_NUMBER - 300 : random.nextInt(1_000);
    state.restore(lastId, 0, now);
    plain = new PlainStore(lastId);
    limits = limits(seed % 4 == 1 ? 9_000 : 1_000_000);
    decider = new Decider(state, limits);
    dice = new TransactionDice(random, plain);
  }

  private static Limits limits(long memoryBytes) {
    int names = TransactionDice.NAME_BYTES;
    return new Limits(
        13,
        320,
        TransactionDice.DATA_BYTES,
        names,
        names,
        10,
        10,
        10,
        10,
        10,
        10,
        10,
        10,
        10,
        memoryBytes);
  }

  /** The kinds of reasons for which something was refused. */
  Set<Kind> kinds() {
    return kinds;
  }

  /** How many transactions changed something. */
  int accepted() {
    return accepted;
  }

  void go() {
    for (int step = 1; step <= STEPS; step++) {
      try {
        passTime();
        if (random.nextInt(5) == 0) {
          claim(dice.claim());
        } else {
          transact(dice.transaction(now));
        }
        checkState();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", step " + step + ": " + e.getMessage(), e);
      }
    }
  }

  private void passTime() {
    now += random.nextInt(60) == 0 ? RecentRequests.KEPT_MILLIS : random.nextInt(1_000);
    while (state.advance(now)) {
      assertThat(state.nextDueMillis()).isLessThanOrEqualTo(now);
    }
    plain.advance(now);
  }

  /** What is decided, twice the same and with no effect on what there is. */
  private Decision decide(Command command) {
    String before = state.freeze().digest();
    long luck = random.nextLong();
    Decision decision = decider.decide(command, now, new Random(luck));
    assertThat(decider.decide(command, now, new Random(luck)))
        .as("%s, decided again", command)
        .isEqualTo(decision);
    assertThat(state.freeze().digest()).as("the state that was looked at").isEqualTo(before);
    return decision;
  }

  private void transact(Transaction transaction) {
    Decision decision = decide(transaction);
    PlainStore.Remembered earlier = plain.earlier(transaction);
    if (earlier != null) {
      checkAgain(transaction, earlier, decision);
      return;
    }
    PlainLook look = new PlainLook(plain, transaction, now);
    PlainResults results = new PlainResults(look);
    List<PlainRules.Fault> faults = PlainRules.faults(look, results, limits);
    switch (decision) {
      case Decision.Refused(List<Reason> reasons) -> {
        assertThat(reasons.stream().map(PlainRules.Fault::of))
            .as("reasons against %s", transaction)
            .containsExactlyInAnyOrderElementsOf(faults)
            .isNotEmpty();
        reasons.forEach(reason -> kinds.add(reason.kind()));
      }
      case Decision.Nothing() -> {
        assertThat(faults).as("reasons against %s", transaction).isEmpty();
        assertThat(results.areNone()).as("%s changes nothing", transaction).isTrue();
      }
      case Decision.Accepted done -> {
        assertThat(faults).as("reasons against %s", transaction).isEmpty();
        checkWithoutDepends(transaction, done);
        Event event = apply(transaction, done);
        checkDone(event, results);
        plain.remember(transaction, event);
        accepted++;
      }
      case Decision.Repeated _ -> throw new AssertionError(transaction + " is new");
    }
  }

  private void checkAgain(
      Transaction transaction, PlainStore.Remembered earlier, Decision decision) {
    if (transaction.equals(earlier.asked())) {
      assertThat(decision).isEqualTo(new Decision.Repeated(earlier.event()));
    } else {
      assertThat(decision)
          .as("%s, after %s", transaction, earlier.asked())
          .isInstanceOfSatisfying(
              Decision.Refused.class,
              refused ->
                  assertThat(refused.reasons())
                      .extracting(Reason::kind)
                      .containsExactly(Kind.REQUEST_ID_REUSED));
      kinds.add(Kind.REQUEST_ID_REUSED);
    }
  }

  /** What is only depended upon has no part in what is done. */
  private void checkWithoutDepends(Transaction transaction, Decision.Accepted done) {
    Transaction without =
        new Transaction(
            transaction.client(),
            transaction.adds(),
            transaction.updates(),
            transaction.renewals(),
            transaction.takings(),
            transaction.deletes(),
            List.of(),
            transaction.puts(),
            transaction.documentDeletes(),
            List.of(),
            null,
            transaction.override());
    assertThat(decider.decide(without, now, random))
        .as("%s without what it depends upon", transaction)
        .isEqualTo(new Decision.Accepted(done.changes(), null, done.growthBytes()));
  }

  private Event apply(Command command, Decision.Accepted done) {
    boolean override = command instanceof Transaction transaction && transaction.override();
    Event event =
        new Event(
            state.commits() + 1, now, command.client(), override, done.changes(), done.request());
    EventValidator.require(state, event);
    state.apply(event);
    plain.apply(event);
    return event;
  }

  private static void checkDone(Event event, PlainResults results) {
    assertThat(event.tasks()).isEqualTo(results.tasks());
    assertThat(event.documents()).isEqualTo(results.documents());
    List<Change> deletes = new ArrayList<>();
    for (Task task : results.deleted()) {
      deletes.add(new Change.Deleted(task.id(), task.origin(), task.group()));
    }
    results
        .documentsDeleted()
        .forEach(document ->
            deletes.add(new Change.DocumentDeleted(document.key(), document.version())));
    assertThat(event.changes().stream().filter(TransactionRun::isDelete)).isEqualTo(deletes);
  }

  private static boolean isDelete(Change change) {
    return change instanceof Change.Deleted || change instanceof Change.DocumentDeleted;
  }

  private void claim(Claim claim) {
    String group = claim.groups().getFirst();
    List<Task> waiting = plain.waiting(group, now);
    int room = claim.whileFewerThan() - plain.claimed(group, now);
    int count = Math.min(claim.count(), waiting.size());
    if (claim.whileFewerThan() > 0) {
      count = Math.clamp(room, 0, count);
    }
    long id = plain.lastId();
    switch (decide(claim)) {
      case Decision.Accepted done -> {
        assertThat(done.changes()).as("%s", claim).hasSize(count);
        for (Change change : done.changes()) {
          id++;
          checkTaken(claim, waiting, change, id);
        }
        apply(claim, done);
      }
      case Decision.Nothing() -> assertThat(count).as("%s", claim).isZero();
      case Decision.Refused(List<Reason> reasons) ->
          assertThat(reasons).extracting(Reason::kind).containsExactly(Kind.FULL);
      case Decision.Repeated _ -> throw new AssertionError(claim + " is new");
    }
  }

  private void checkTaken(Claim claim, List<Task> waiting, Change change, long id) {
    assertThat(change)
        .isInstanceOfSatisfying(
            Change.Changed.class,
            changed -> {
              Task old = plain.find(TaskRef.id(changed.oldId()));
              assertThat(waiting).contains(old);
              assertThat(changed.task())
                  .isEqualTo(
                      PlainResults.taken(
                          Objects.requireNonNull(old),
                          id,
                          claim.client(),
                          now + claim.leaseMillis()));
            });
  }

  private void checkState() {
    List<Task> waiting = new ArrayList<>();
    List<Task> held = new ArrayList<>();
    FrozenState frozen = state.freeze();
    for (Group group : frozen.groups()) {
      waiting.addAll(group.frozenWaiting());
      held.addAll(group.frozenHeld());
      assertThat(group.claimedCount()).isEqualTo(plain.claimed(group.name(), now));
    }
    assertThat(waiting).allMatch(task -> task.stateAt(now) == Task.State.WAITING);
    assertThat(held).noneMatch(task -> task.stateAt(now) == Task.State.WAITING);
    waiting.addAll(held);
    assertThat(waiting).containsExactlyInAnyOrderElementsOf(plain.tasks());
    assertThat(frozen.documents()).isEqualTo(plain.documents());
    assertThat(frozen.lastId()).isEqualTo(plain.lastId());
    assertThat(frozen.commits()).isEqualTo(plain.commits());
    assertThat(state.memoryBytes()).isEqualTo(plain.memoryBytes());
    for (Task task : plain.tasks()) {
      assertThat(state.find(TaskRef.id(task.id()))).isEqualTo(task);
      assertThat(state.find(TaskRef.origin(task.origin()))).isEqualTo(task);
    }
  }
}
