package io.millrace.store.testkit.simulation;

import io.millrace.store.Command;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.testkit.simulation.PendingCommands.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the answers to clients and checks them against the stream of commits. Each commit must be
 * the correct effect of one command, and each answer must be correct at the position that it names.
 */
final class HistoryChecker {
  /** The result of a read at one position. */
  private record Observation(Position position, long timeMillis, Object what, Check check) {}

  /** Checks an observation against the model at its position. Returns what is wrong, or null. */
  @FunctionalInterface
  interface Check {
    @Nullable String against(Model model);
  }

  private record Answer(Sent sent, Outcome.Done done) {}

  /** A commit with the command that made it and what it deleted. */
  private record RecordedCommit(Command command, Outcome.Done streamed, List<Long> deleted) {}

  private final Model model = new Model();
  private final AnswerChecker checker;
  private final PendingCommands pending;
  private final List<Observation> observations = new ArrayList<>();
  private final List<Answer> repeated = new ArrayList<>();
  private final TreeMap<Long, Answer> acknowledged = new TreeMap<>();
  private final List<Commit> history = new ArrayList<>();
  private final List<RecordedCommit> followed = new ArrayList<>();

  /** The largest id or version in an answer. Its commit may be lost. */
  private long largestTold;

  private final BooleanSupplier mayBeFull;

  /** With a supplier that says whether the disk may lack space now. */
  HistoryChecker(Limits limits, BooleanSupplier mayBeFull) {
    this.mayBeFull = mayBeFull;
    checker = new AnswerChecker(model, limits);
    pending = new PendingCommands(checker);
  }

  Model model() {
    return model;
  }

  PendingCommands pending() {
    return pending;
  }

  /** The commits settled so far; the first has number 1. */
  List<Commit> history() {
    return history;
  }

  /**
   * Checks, when the store is idle, that every acknowledged commit was streamed and every command
   * answered.
   */
  void requireNothingUnsettled() {
    String told = toldBeyond(model.number());
    if (told != null) {
      throw new SimulationFailure("told but never streamed: " + told);
    }
    for (Sent sent : pending.unanswered()) {
      if (sent.waitMillis() == 0) {
        throw new SimulationFailure("never answered: " + sent.command());
      }
    }
  }

  /** Records an answer. */
  void answered(Sent sent, Outcome outcome) {
    pending.answered(sent);
    if (outcome instanceof Outcome.Done done) {
      done.tasks().forEach(task -> largestTold = Math.max(largestTold, task.id()));
      done.documents().forEach(document -> largestTold = Math.max(largestTold, document.version()));
    }
    if (sent.committedBy(outcome)) {
      Answer answer = new Answer(sent, (Outcome.Done) outcome);
      if (acknowledged.put(outcome.position().number(), answer) != null) {
        throw new SimulationFailure("two commands were answered with " + outcome.position());
      }
    } else if (outcome instanceof Outcome.Done done && done.repeated()) {
      repeated.add(new Answer(sent, done));
    } else {
      boolean full = AnswerChecker.isFull(outcome) && mayBeFull.getAsBoolean();
      observe(
          outcome.position(),
          AnswerChecker.timeOf(outcome),
          sent.command(),
          _ ->
              full
                  ? checker.checkFull(sent.command(), outcome)
                  : checker.checkUnchanged(sent.command(), outcome));
    }
  }

  /**
   * Records the result of a read.
   *
   * @param what the request, for messages
   */
  void observe(Position position, long timeMillis, Object what, Check check) {
    observations.add(new Observation(position, timeMillis, what, check));
  }

  /**
   * Applies and checks the commits that follow the last settled one.
   *
   * @param complete whether all answers have arrived; after a crash some never do
   */
  void settle(List<Commit> commits, boolean complete) {
    settleObservations();
    for (Commit commit : commits) {
      if (commit.position().number() != model.number() + 1) {
        throw new SimulationFailure(
            "commit " + commit.position() + " was streamed after number " + model.number());
      }
      follow(commit, complete);
      history.add(commit);
      settleObservations();
    }
    for (Answer answer : repeated) {
      settleRepeated(answer);
    }
    repeated.clear();
  }

  /** A description of the answers about commits after {@code number}; null if there are none. */
  @Nullable String toldBeyond(long number) {
    if (!acknowledged.tailMap(number, false).isEmpty()) {
      return acknowledged.tailMap(number, false).firstEntry().getValue().done().toString();
    }
    return observations.stream()
        .filter(observation -> observation.position().number() > number)
        .map(observation -> observation.what().toString())
        .findFirst()
        .orElse(null);
  }

  /**
   * Reserves the ids in answers to clients: they must not be used again, even if their commit is
   * lost.
   */
  void retireToldIds() {
    model.retireIds(largestTold);
  }

  /** Drops the answers about commits after {@code number}, which are lost. */
  void forgetBeyond(long number) {
    acknowledged.tailMap(number, false).clear();
    observations.removeIf(observation -> observation.position().number() > number);
    repeated.clear();
  }

  /** Undoes the commits after {@code number}; their ids stay reserved. */
  void rollBack(long number) {
    forgetBeyond(number);
    largestTold = Math.max(largestTold, model.lastId());
    history.subList((int) number, history.size()).clear();
    followed.subList((int) number, followed.size()).clear();
    model.clear();
    for (RecordedCommit each : followed) {
      String wrong = checker.follow(each.command(), each.streamed(), each.deleted());
      if (wrong != null) {
        throw new SimulationFailure("not the same again: " + wrong);
      }
    }
    retireToldIds();
  }

  /**
   * Moves the commits of all histories except the {@code known} ones to the history {@code name}.
   */
  void rename(Set<Long> known, long name) {
    history.replaceAll(commit ->
        known.contains(commit.position().history())
            ? commit
            : new Commit(
                new Position(name, commit.position().number()),
                commit.timeMillis(),
                commit.client(),
                commit.override(),
                commit.changes()));
  }

  private void follow(Commit commit, boolean complete) {
    Outcome.Done streamed = asAnswer(commit);
    List<Long> deleted =
        commit.changes().stream()
            .filter(Change.Deleted.class::isInstance)
            .map(change -> ((Change.Deleted) change).id())
            .toList();
    @Nullable Answer answer = acknowledged.remove(commit.position().number());
    if (answer == null) {
      followUnanswered(commit, streamed, deleted);
      return;
    }
    if (!sameApartFromHistory(answer.done(), streamed)
        || !commit.client().equals(answer.sent().command().client())) {
      throw new SimulationFailure("answered " + answer.done() + " but streamed " + commit);
    }
    if (complete) {
      pending.checkTurn(answer.sent(), streamed);
    }
    String wrong = checker.follow(answer.sent().command(), streamed, deleted);
    if (wrong != null) {
      throw new SimulationFailure(answer.sent().command() + ": " + wrong);
    }
    followed.add(new RecordedCommit(answer.sent().command(), streamed, deleted));
  }

  /** Whether two answers are equal, apart from the history, which may have been forked since. */
  private static boolean sameApartFromHistory(Outcome.Done one, Outcome.Done other) {
    return one.position().number() == other.position().number()
        && one.timeMillis() == other.timeMillis()
        && one.tasks().equals(other.tasks())
        && one.documents().equals(other.documents());
  }

  /**
   * Checks that a commit whose answer was lost is the complete effect of a command that was sent.
   */
  private void followUnanswered(Commit commit, Outcome.Done streamed, List<Long> deleted) {
    List<String> wrong = new ArrayList<>();
    for (Sent sent : pending.unanswered()) {
      if (sent.command().client().equals(commit.client())) {
        String difference = checker.follow(sent.command(), streamed, deleted);
        if (difference == null) {
          pending.answered(sent);
          followed.add(new RecordedCommit(sent.command(), streamed, deleted));
          return;
        }
        wrong.add(sent.command() + ": " + difference);
      }
    }
    throw new SimulationFailure("nobody asked for " + commit + "; nearest: " + wrong);
  }

  /** The answer that a commit would have given, with the data that the stream leaves out. */
  private Outcome.Done asAnswer(Commit commit) {
    List<Task> tasks = new ArrayList<>();
    List<Document> documents = new ArrayList<>();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.Added(Task task) -> tasks.add(task);
        case Change.Changed(long oldId, Task task, boolean dataKept) ->
            tasks.add(dataKept ? withDataOf(oldId, task) : task);
        case Change.Deleted _ -> {}
        case Change.DocumentPut(long _, Document document) -> documents.add(document);
        case Change.DocumentDeleted _ -> {}
      }
    }
    return new Outcome.Done(commit.position(), commit.timeMillis(), tasks, documents, false);
  }

  private Task withDataOf(long oldId, Task task) {
    @Nullable Task old = model.find(TaskRef.id(oldId));
    if (old == null) {
      throw new SimulationFailure("streamed a change of task " + oldId + ", which is not there");
    }
    return task.withData(old.data());
  }

  private void settleObservations() {
    for (int i = 0; i < observations.size(); i++) {
      Observation observation = observations.get(i);
      long number = observation.position().number();
      if (number < model.number()) {
        throw new SimulationFailure(
            observation.what() + " was answered for " + number + ", long after it");
      }
      if (number == model.number()) {
        if (observation.timeMillis() < model.timeMillis()) {
          throw new SimulationFailure("time went back: " + observation.what());
        }
        String wrong = observation.check().against(model);
        if (wrong != null) {
          throw new SimulationFailure(
              observation.what() + " at " + observation.position() + ": " + wrong);
        }
      }
    }
    observations.removeIf(observation -> observation.position().number() == model.number());
  }

  private void settleRepeated(Answer answer) {
    Outcome.Done done = answer.done();
    Model.@Nullable RememberedAnswer first = model.rememberedAt(done.position().number());
    boolean right =
        first != null
            && Objects.equals(first.command(), answer.sent().command())
            && first.answer().tasks().equals(done.tasks())
            && first.answer().documents().equals(done.documents());
    if (!right) {
      throw new SimulationFailure("repeated as " + done + " but first answered " + first);
    }
  }
}
