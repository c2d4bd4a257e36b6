package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.decisions.Decider;
import io.millrace.store.kernel.decisions.Decider.Decision;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.recovery.EventValidator;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.RecentRequests;
import io.millrace.store.kernel.state.Sizes;
import io.millrace.store.kernel.state.State;
import io.millrace.store.testkit.simulation.ExpectedOutcome.Cause;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewDocument;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewTask;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random transactions on random states, each judged by {@link TransactionRules}. {@code
 * -Dmillrace.transactions.seeds=N} runs more than 40 seeds, {@code -Dmillrace.transactions.seed=N}
 * replays the one that a failure names.
 */
final class TransactionPropertyTest {
  private static final long SEEDS = Long.getLong("millrace.transactions.seeds", 40);

  @Test
  void a_transaction_does_all_that_it_says_or_is_refused_for_every_reason_and_no_other() {
    Long one = Long.getLong("millrace.transactions.seed");
    if (one != null) {
      new Run(one).go();
      return;
    }
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    int accepted = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed);
      run.go();
      kinds.addAll(run.kinds);
      accepted += run.accepted;
    }
    assertThat(kinds).as("the kinds of reasons that were met").containsExactly(Kind.values());
    assertThat(accepted).as("transactions that were done").isGreaterThan((int) SEEDS * 50);
  }

  /** One seed's states and transactions, with what must hold at each step. */
  private static final class Run {
    private static final int STEPS = 300;

    private final long seed;
    private final Random random;
    private final State state = new State();
    private final Model model = new Model();
    private final Limits limits;
    private final Decider decider;
    private final AnswerChecker checker;
    private final RandomTransactions dice;
    private final Map<Long, Event> remembered = new HashMap<>();

    /** The kinds of reasons for which something was refused. */
    private final Set<Kind> kinds = EnumSet.noneOf(Kind.class);

    /** How many transactions changed something. */
    private int accepted;

    private long now = 1_000_000;

    Run(long seed) {
      this.seed = seed;
      random = new Random(seed);
      // Some stores are about to run out of ids, and some of memory.
      long lastId = seed % 8 == 0 ? Limits.LARGEST_NUMBER - 300 : random.nextInt(1_000);
      state.restore(lastId, 0, now);
      model.retireIds(lastId);
      limits = limits(seed % 4 == 1 ? 9_000 : 1_000_000);
      decider = new Decider(state, limits, Ids.ALL);
      checker = new AnswerChecker(model, limits);
      dice = new RandomTransactions(random, model);
    }

    private static Limits limits(long memoryBytes) {
      int names = RandomTransactions.NAME_BYTES;
      int data = RandomTransactions.DATA_BYTES;
      return new Limits(
          13, 320, data, names, names, 10, 10, 10, 10, 10, 10, 10, 10, 10, memoryBytes);
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
      remembered.values().removeIf(event -> event.timeMillis() + Model.REMEMBERED_MILLIS <= now);
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
      Model.RememberedAnswer earlier = model.recall(transaction, now);
      if (earlier != null) {
        checkAgain(transaction, earlier, decision);
        return;
      }
      TransactionRules rules = new TransactionRules(model, limits, transaction, now);
      List<Cause> causes = new ArrayList<>(rules.causes());
      long growth = growth(rules.done());
      if (!rules.isTooLarge()
          && growth > 0
          && state.memoryBytes() + growth > limits.memoryBytes()) {
        causes.add(Cause.of(Kind.FULL));
      }
      switch (decision) {
        case Decision.Refused(List<Reason> reasons) -> {
          assertThat(reasons.stream().map(Cause::of))
              .as("reasons against %s", transaction)
              .containsExactlyInAnyOrderElementsOf(causes)
              .isNotEmpty();
          reasons.forEach(reason -> kinds.add(reason.kind()));
        }
        case Decision.Nothing() -> {
          assertThat(causes).as("reasons against %s", transaction).isEmpty();
          assertThat(rules.done().isEmpty()).as("%s changes nothing", transaction).isTrue();
        }
        case Decision.Accepted done -> {
          assertThat(causes).as("reasons against %s", transaction).isEmpty();
          checkWithoutDepends(transaction, done);
          follow(transaction, done);
          accepted++;
        }
        case Decision.Repeated _ -> throw new AssertionError(transaction + " is new");
      }
    }

    /** How many bytes of memory more are needed. */
    private long growth(ExpectedOutcome.Done done) {
      long next = model.lastId() + 1;
      long growth = 0;
      for (NewTask task : done.tasks()) {
        Task old = task.old();
        growth += Sizes.of(task.as(next)) - (old == null ? 0 : Sizes.of(old));
      }
      for (Task task : done.deletes()) {
        growth -= Sizes.of(task);
      }
      for (NewDocument document : done.documents()) {
        DocumentKey key = document.put().key();
        growth +=
            Sizes.of(new Document(key, next, document.body(place -> next + place)))
                - sizeOf(model.document(key));
      }
      for (Document document : done.documentDeletes()) {
        growth -= Sizes.of(document);
      }
      return growth;
    }

    private static long sizeOf(@Nullable Document document) {
      return document == null ? 0 : Sizes.of(document);
    }

    private void checkAgain(
        Transaction transaction, Model.RememberedAnswer earlier, Decision decision) {
      if (transaction.equals(earlier.command())) {
        Event event = remembered.get(earlier.answer().position().number());
        assertThat(decision).isEqualTo(new Decision.Repeated(Objects.requireNonNull(event)));
      } else {
        assertThat(decision)
            .as("%s, after %s", transaction, earlier.command())
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

    /** Carries out what was decided, which must be what the model says. */
    private void follow(Command command, Decision.Accepted done) {
      boolean override = command instanceof Transaction transaction && transaction.override();
      long number = state.commits() + 1;
      Event event =
          new Event(number, now, command.client(), override, done.changes(), done.request());
      EventValidator.require(state, event);
      done.changes().forEach(this::checkOld);
      state.apply(event);
      List<Long> deleted = new ArrayList<>();
      for (Change change : event.changes()) {
        if (change instanceof Change.Deleted(long id, long _, String _)) {
          deleted.add(id);
        }
      }
      Position position = new Position(1, number);
      assertThat(
              checker.follow(
                  command,
                  new Outcome.Done(position, now, event.tasks(), event.documents(), false),
                  deleted))
          .as("what is wrong with %s for %s", event, command)
          .isNull();
      if (command.requestId() != null) {
        remembered.put(number, event);
      }
    }

    /** What a change replaces or removes is what the model holds. */
    private void checkOld(Change change) {
      boolean fits =
          switch (change) {
            case Change.Added(Task task) -> task.id() == task.origin();
            case Change.Changed(long oldId, Task task, boolean dataKept) -> {
              Task old = model.find(new TaskRef(oldId, task.origin()));
              yield old != null
                  && old.group().equals(task.group())
                  && old.data().equals(task.data()) == dataKept;
            }
            case Change.Deleted(long id, long origin, String group) -> {
              Task old = model.find(new TaskRef(id, origin));
              yield old != null && old.group().equals(group);
            }
            case Change.DocumentPut(long oldVersion, Document document) ->
                version(document.key()) == oldVersion;
            case Change.DocumentDeleted(DocumentKey key, long oldVersion) ->
                oldVersion > 0 && version(key) == oldVersion;
          };
      assertThat(fits).as("%s fits the state", change).isTrue();
    }

    private long version(DocumentKey key) {
      Document document = model.document(key);
      return document == null ? 0 : document.version();
    }

    private void claim(Claim claim) {
      ExpectedOutcome verdict = checker.verdict(claim, now);
      switch (decide(claim)) {
        case Decision.Accepted done -> follow(claim, done);
        case Decision.Nothing() -> assertThat(verdict).isEqualTo(new ExpectedOutcome.Nothing());
        case Decision.Refused(List<Reason> reasons) ->
            assertThat(reasons).extracting(Reason::kind).containsExactly(Kind.FULL);
        case Decision.Repeated _ -> throw new AssertionError(claim + " is new");
      }
    }

    private void checkState() {
      List<Task> waiting = new ArrayList<>();
      List<Task> held = new ArrayList<>();
      FrozenState frozen = state.freeze();
      long memoryBytes = 0;
      for (Group group : frozen.groups()) {
        waiting.addAll(group.frozenWaiting());
        held.addAll(group.frozenHeld());
        memoryBytes += Sizes.ofGroup(group.name());
        assertThat(group.claimedCount()).isEqualTo(model.claimed(group.name(), now));
      }
      assertThat(waiting).allMatch(task -> task.stateAt(now) == Task.State.WAITING);
      assertThat(held).noneMatch(task -> task.stateAt(now) == Task.State.WAITING);
      waiting.addAll(held);
      assertThat(waiting).containsExactlyInAnyOrderElementsOf(model.tasks());
      assertThat(frozen.documents()).isEqualTo(model.documents());
      assertThat(frozen.lastId()).isEqualTo(model.lastId());
      assertThat(frozen.commits()).isEqualTo(model.number());
      memoryBytes += model.tasks().stream().mapToLong(Sizes::of).sum();
      memoryBytes += model.documents().stream().mapToLong(Sizes::of).sum();
      memoryBytes += remembered.values().stream().mapToLong(Sizes::of).sum();
      memoryBytes += (long) Sizes.STARTS * frozen.starts().size();
      assertThat(state.memoryBytes()).isEqualTo(memoryBytes);
      for (Task task : model.tasks()) {
        assertThat(state.find(TaskRef.id(task.id()))).isEqualTo(task);
        assertThat(state.find(TaskRef.origin(task.origin()))).isEqualTo(task);
      }
    }
  }
}
