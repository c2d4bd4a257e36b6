package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.testkit.simulation.ExpectedOutcome.Cause;
import io.millrace.store.testkit.simulation.ExpectedOutcome.Choice;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewDocument;
import io.millrace.store.testkit.simulation.ExpectedOutcome.NewTask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Compares answers with the model, and applies each correct commit to the model. */
final class AnswerChecker {
  private final Model model;
  private final Limits limits;

  AnswerChecker(Model model, Limits limits) {
    this.model = model;
    this.limits = limits;
  }

  /** The store time of a decision. */
  static long timeOf(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Done done -> done.timeMillis();
      case Outcome.Refused refused -> refused.timeMillis();
    };
  }

  ExpectedOutcome verdict(Command command, long nowMillis) {
    return verdict(command, nowMillis, List.of());
  }

  /**
   * The documented outcome of a command.
   *
   * @param answer the tasks of its answer, if that is known: what a claim takes from its first
   *     groups may count for the next ones
   */
  private ExpectedOutcome verdict(Command command, long nowMillis, List<Task> answer) {
    Model.@Nullable RememberedAnswer earlier = model.recall(command, nowMillis);
    if (earlier != null) {
      return earlier.command().equals(command)
          ? new ExpectedOutcome.Repeated(earlier)
          : new ExpectedOutcome.Refused(List.of(Cause.of(Kind.REQUEST_ID_REUSED)));
    }
    return switch (command) {
      case Transaction transaction ->
          new TransactionRules(model, limits, transaction, nowMillis).verdict();
      case Claim claim -> verdict(claim, nowMillis, answer);
    };
  }

  private ExpectedOutcome verdict(Claim claim, long nowMillis, List<Task> answer) {
    List<Cause> causes = new ArrayList<>();
    if (claim.groups().size() > limits.claimGroups()) {
      causes.add(Cause.of(Kind.TOO_LARGE));
    }
    if (claim.count() > limits.claimCount()) {
      causes.add(Cause.of(Kind.TOO_LARGE));
    }
    ExpectedOutcome verdict = claimVerdict(claim, nowMillis, answer);
    if (causes.isEmpty()) {
      return verdict;
    }
    if (verdict instanceof ExpectedOutcome.Refused(List<Cause> others)) {
      causes.addAll(others);
    }
    return new ExpectedOutcome.Refused(causes);
  }

  /** The documented result of a claim within the limits. */
  private ExpectedOutcome claimVerdict(Claim claim, long nowMillis, List<Task> answer) {
    List<Cause> causes = new ArrayList<>();
    for (TaskRef ref : new LinkedHashSet<>(claim.depends())) {
      if (model.find(ref) == null) {
        causes.add(new Cause(Kind.MISSING_DEPEND, ref, null));
      }
    }
    if (!causes.isEmpty()) {
      return new ExpectedOutcome.Refused(causes);
    }
    List<Choice> choices = new ArrayList<>();
    Set<Long> taken = answer.stream().map(Task::origin).collect(Collectors.toSet());
    StartRules starts = new StartRules(model, nowMillis);
    int left = claim.count();
    for (String group : claim.groups()) {
      List<List<Task>> lanes = lanes(claim, group, starts, nowMillis);
      int count = Math.min(left, lanes.stream().mapToInt(List::size).sum());
      if (claim.whileFewerThan() > 0) {
        count = Math.min(count, claim.whileFewerThan() - model.claimed(group, nowMillis));
      }
      count = Math.min(count, starts.room(group));
      if (count > 0) {
        choices.add(new Choice(lanes, count));
        lanes.stream()
            .flatMap(List::stream)
            .sorted(Comparator.comparing(task -> !taken.contains(task.origin())))
            .limit(count)
            .forEach(starts::take);
        left -= count;
      }
    }
    return choices.isEmpty()
        ? new ExpectedOutcome.Nothing()
        : new ExpectedOutcome.Takes(choices, claim.client(), nowMillis + claim.leaseMillis());
  }

  /** The waiting tasks as a claim finds them; none of the lists is empty. */
  private List<List<Task>> lanes(Claim claim, String group, StartRules starts, long nowMillis) {
    List<Task> waiting = model.waiting(group, nowMillis);
    boolean newest = claim.order() == Claim.Order.NEWEST;
    boolean turns = waiting.stream().anyMatch(task -> task.lane() != null);
    List<List<Task>> lanes =
        !turns && claim.order() == Claim.Order.RANDOM
            ? waiting.stream().map(List::of).toList()
            : starts.lanes(waiting, group, newest);
    return lanes.stream().filter(lane -> !lane.isEmpty()).toList();
  }

  /** Whether the store may refuse a command as full, as far as the model can tell. */
  private boolean mayBeFull(Command command, ExpectedOutcome verdict) {
    return switch (command) {
      case Transaction transaction ->
          limits.memoryBytes() < Limits.defaults().memoryBytes()
              && (!transaction.adds().isEmpty()
                  || !transaction.puts().isEmpty()
                  || transaction.updates().stream().anyMatch(update -> update.data() != null));
      case Claim claim ->
          limits.waitingClaims() < Limits.defaults().waitingClaims()
              && claim.waitMillis() > 0
              && verdict instanceof ExpectedOutcome.Nothing;
    };
  }

  /**
   * Compares an answer that made no commit with the current model; returns what is wrong, or null.
   */
  @Nullable String checkUnchanged(Command command, Outcome outcome) {
    ExpectedOutcome verdict = verdict(command, timeOf(outcome));
    return switch (outcome) {
      case Outcome.Refused(_, _, List<Reason> reasons) -> {
        Map<Cause, Integer> actual = counts(reasons.stream().map(Cause::of).toList());
        Map<Cause, Integer> expected =
            verdict instanceof ExpectedOutcome.Refused(List<Cause> causes)
                ? counts(causes)
                : new HashMap<>();
        if (actual.containsKey(Cause.of(Kind.FULL)) && mayBeFull(command, verdict)) {
          expected.put(Cause.of(Kind.FULL), 1);
        }
        yield actual.equals(expected) ? null : "refused with " + actual + " but " + verdict;
      }
      case Outcome.Done done ->
          (verdict instanceof ExpectedOutcome.Nothing || gaveUpWaiting(command, verdict))
                  && done.tasks().isEmpty()
                  && done.documents().isEmpty()
              ? null
              : done + " but " + verdict;
    };
  }

  /** Whether a command was refused only because the store is full. */
  static boolean isFull(Outcome outcome) {
    return outcome instanceof Outcome.Refused(_, _, List<Reason> reasons)
        && reasons.size() == 1
        && reasons.getFirst().kind() == Kind.FULL;
  }

  /** Checks a refusal for lack of space on the disk; returns what is wrong, or null. */
  @Nullable String checkFull(Command command, Outcome outcome) {
    ExpectedOutcome verdict = verdict(command, timeOf(outcome));
    return verdict instanceof ExpectedOutcome.Done || verdict instanceof ExpectedOutcome.Takes
        ? null
        : checkUnchanged(command, outcome);
  }

  /**
   * A claim whose wait has ended may get nothing, even if its dependencies are gone, or if another
   * claim with the same request id was served.
   */
  private static boolean gaveUpWaiting(Command command, ExpectedOutcome verdict) {
    return command instanceof Claim claim
        && claim.waitMillis() > 0
        && (verdict instanceof ExpectedOutcome.Refused
            || verdict instanceof ExpectedOutcome.Repeated);
  }

  /**
   * Applies a commit to the model.
   *
   * @param done its answer, or the answer implied by the stream of commits
   * @param deleted the ids of the deleted tasks, from the stream
   * @return what is wrong, and then the model is unchanged; null if it is right and was applied
   */
  @Nullable String follow(Command command, Outcome.Done done, List<Long> deleted) {
    if (done.timeMillis() < model.timeMillis()) {
      return "time went back from " + model.timeMillis() + " to " + done.timeMillis();
    }
    String wrongIds = checkIds(done);
    if (wrongIds != null) {
      return wrongIds;
    }
    ExpectedOutcome verdict = verdict(command, done.timeMillis(), done.tasks());
    @Nullable String wrong =
        switch (verdict) {
          case ExpectedOutcome.Done expected -> followTransaction(expected, done, deleted);
          case ExpectedOutcome.Takes takes -> followClaim(takes, done);
          default -> done + " but " + verdict;
        };
    if (wrong == null && grows(command, deleted) && model.leastBytes() > limits.memoryBytes()) {
      wrong = "grew beyond " + limits.memoryBytes() + " bytes";
    }
    if (wrong == null) {
      model.committed(command, done);
    }
    return wrong;
  }

  /** Whether a command that was executed, and deleted these tasks, certainly needs more space. */
  private static boolean grows(Command command, List<Long> deleted) {
    return command instanceof Transaction transaction
        && !transaction.adds().isEmpty()
        && transaction.updates().isEmpty()
        && transaction.puts().isEmpty()
        && transaction.documentDeletes().isEmpty()
        && deleted.isEmpty();
  }

  private @Nullable String checkIds(Outcome.Done done) {
    long last = model.lastId();
    List<Long> ids = new ArrayList<>();
    done.tasks().forEach(task -> ids.add(task.id()));
    done.documents().forEach(document -> ids.add(document.version()));
    for (long id : ids) {
      if (id <= last || id > Limits.LARGEST_NUMBER) {
        return "id " + id + " was given though " + last + " had been used";
      }
      last = id;
    }
    return null;
  }

  private @Nullable String followTransaction(
      ExpectedOutcome.Done expected, Outcome.Done done, List<Long> deleted) {
    if (expected.tasks().size() != done.tasks().size()
        || expected.documents().size() != done.documents().size()) {
      return done + " but " + expected;
    }
    for (int i = 0; i < done.tasks().size(); i++) {
      Task actual = done.tasks().get(i);
      Task right = expected.tasks().get(i).as(actual.id());
      if (!actual.equals(right)) {
        return "task " + actual + " should be " + right;
      }
    }
    for (int i = 0; i < done.documents().size(); i++) {
      Document actual = done.documents().get(i);
      NewDocument planned = expected.documents().get(i);
      Bytes body = planned.body(place -> done.tasks().get(place).id());
      Document right = new Document(planned.put().key(), actual.version(), body);
      if (!actual.equals(right)) {
        return actual + " should be " + right;
      }
    }
    if (!deleted.equals(expected.deletes().stream().map(Task::id).toList())) {
      return "deleted " + deleted + " but " + expected.deletes();
    }
    expected.tasks().stream()
        .filter(NewTask::isTaken)
        .forEach(task -> model.started(Objects.requireNonNull(task.old()), done.timeMillis()));
    expected.tasks().forEach(task -> removeOld(task.old()));
    expected.deletes().forEach(model::remove);
    done.tasks().forEach(model::put);
    expected.documentDeletes().forEach(document -> model.remove(document.key()));
    done.documents().forEach(model::put);
    return null;
  }

  private void removeOld(@Nullable Task old) {
    if (old != null) {
      model.remove(old);
    }
  }

  private @Nullable String followClaim(ExpectedOutcome.Takes takes, Outcome.Done done) {
    int count = takes.choices().stream().mapToInt(Choice::count).sum();
    if (done.tasks().size() != count || !done.documents().isEmpty()) {
      return done + " but " + takes;
    }
    List<Task> taken = new ArrayList<>();
    int next = 0;
    for (Choice choice : takes.choices()) {
      List<Deque<Task>> lanes = new ArrayList<>();
      choice.lanes().forEach(lane -> lanes.add(new ArrayDeque<>(lane)));
      for (int i = 0; i < choice.count(); i++) {
        Task actual = done.tasks().get(next++);
        @Nullable Task old =
            lanes.stream()
                .filter(lane -> !lane.isEmpty() && lane.getFirst().origin() == actual.origin())
                .map(Deque::removeFirst)
                .findFirst()
                .orElse(null);
        if (old == null || !actual.equals(claimed(old, actual.id(), takes))) {
          return actual + " was claimed but " + takes;
        }
        taken.add(old);
      }
    }
    taken.forEach(task -> model.started(task, done.timeMillis()));
    taken.forEach(model::remove);
    done.tasks().forEach(model::put);
    return null;
  }

  private static Task claimed(Task old, long id, ExpectedOutcome.Takes takes) {
    NewTask task =
        new NewTask(
            old,
            old.group(),
            takes.untilMillis(),
            takes.owner(),
            NewTask.OWN_ID,
            old.data(),
            old.lane());
    return task.as(id);
  }

  private static Map<Cause, Integer> counts(List<Cause> causes) {
    Map<Cause, Integer> counts = new HashMap<>();
    causes.forEach(cause -> counts.merge(cause, 1, Integer::sum));
    return counts;
  }
}
