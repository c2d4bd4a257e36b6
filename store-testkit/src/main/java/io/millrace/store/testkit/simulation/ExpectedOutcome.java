package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The expected result of a command, according to the model. */
sealed interface ExpectedOutcome {
  /** It succeeds and changes nothing: an empty claim, or only dependencies that hold. */
  record Nothing() implements ExpectedOutcome {}

  /** It was answered before. */
  record Repeated(Model.RememberedAnswer earlier) implements ExpectedOutcome {}

  /** It is refused for these reasons, in any order. */
  record Refused(List<Cause> causes) implements ExpectedOutcome {}

  /** It succeeds with these changes. */
  record Done(
      List<NewTask> tasks,
      List<Task> deletes,
      List<NewDocument> documents,
      List<Document> documentDeletes)
      implements ExpectedOutcome {
    /** Whether it changes nothing. */
    boolean isEmpty() {
      return tasks.isEmpty()
          && deletes.isEmpty()
          && documents.isEmpty()
          && documentDeletes.isEmpty();
    }
  }

  /** A claim takes some of the waiting tasks. */
  record Takes(List<Choice> choices, Owner owner, long untilMillis) implements ExpectedOutcome {}

  /** A reason without its message. */
  record Cause(Reason.Kind kind, @Nullable TaskRef task, @Nullable DocumentKey document) {
    static Cause of(Reason reason) {
      return new Cause(reason.kind(), reason.task(), reason.document());
    }

    static Cause of(Reason.Kind kind) {
      return new Cause(kind, null, null);
    }
  }

  /**
   * A task that the commit creates.
   *
   * @param old the task that it replaces; null for an added one
   * @param token its fencing token, 0 for none, or {@link #OWN_ID} if a claim gives it
   */
  record NewTask(
      @Nullable Task old,
      String group,
      long availableAtMillis,
      @Nullable Owner owner,
      long token,
      Bytes data,
      Task.@Nullable Lane lane) {
    /** A placeholder for the id that the task will have. */
    static final long OWN_ID = -1;

    /** Whether it is the result of a claim. */
    boolean isTaken() {
      return token == OWN_ID;
    }

    /** The task with the id that it was given. */
    Task as(long id) {
      long origin = old == null ? id : old.origin();
      int claims = (old == null ? 0 : old.claims()) + (isTaken() ? 1 : 0);
      return new Task(
          id, origin, group, availableAtMillis, owner, isTaken() ? id : token, claims, data, lane);
    }
  }

  /**
   * A document that the commit writes.
   *
   * @param names the indexes, among the new tasks, of those with local names
   */
  record NewDocument(Transaction.Put put, Map<String, Integer> names) {
    /** A reference to a local name in a template. */
    private static final Pattern REFERENCE = Pattern.compile("\\{\\{(.*?)}}", Pattern.DOTALL);

    /** The local names that a template refers to. */
    Stream<String> references() {
      return put.template()
          ? REFERENCE.matcher(put.body().utf8()).results().map(match -> match.group(1))
          : Stream.empty();
    }

    /** The body, given the ids of the new tasks by their indexes. */
    Bytes body(IntToLongFunction ids) {
      return put.template()
          ? Bytes.of(
              REFERENCE
                  .matcher(put.body().utf8())
                  .replaceAll(match -> {
                    Integer place = names.get(match.group(1));
                    return place == null ? "null" : Long.toString(ids.applyAsLong(place));
                  }))
          : put.body();
    }
  }

  /**
   * Tasks to be taken from one group.
   *
   * @param lanes the waiting tasks in lists, from each of which only the first may be taken; not
   *     empty, nor is any of the lists
   * @param count the number of tasks to take
   */
  record Choice(List<List<Task>> lanes, int count) {
    /** The group. */
    String group() {
      return lanes.getFirst().getFirst().group();
    }
  }
}
