package io.millrace.store.kernel;

import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.state.Sizes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What a store holds, kept as plainly as can be: a map for each thing, and every look a walk. */
final class PlainStore {
  /**
   * A transaction that took effect under a request id.
   *
   * @param asked what was asked
   * @param event what came of it
   */
  record Remembered(Transaction asked, Event event) {}

  private final TreeMap<Long, Task> tasks = new TreeMap<>();
  private final TreeMap<DocumentKey, Document> documents = new TreeMap<>();
  private final Map<String, Remembered> requests = new HashMap<>();
  private final Set<Long> everGiven = new TreeSet<>();
  private long lastId;
  private long commits;

  PlainStore(long lastId) {
    this.lastId = lastId;
  }

  long lastId() {
    return lastId;
  }

  long commits() {
    return commits;
  }

  /** All tasks by id. */
  List<Task> tasks() {
    return List.copyOf(tasks.values());
  }

  /** All documents by key. */
  List<Document> documents() {
    return List.copyOf(documents.values());
  }

  @Nullable Task find(TaskRef ref) {
    if (!ref.namesTask()) {
      return null;
    }
    for (Task task : tasks.values()) {
      if ((ref.id() == 0 || task.id() == ref.id())
          && (ref.origin() == 0 || task.origin() == ref.origin())) {
        return task;
      }
    }
    return null;
  }

  @Nullable Document document(DocumentKey key) {
    return documents.get(key);
  }

  /** What was asked before under the request id of this one; null where nothing was. */
  @Nullable Remembered earlier(Transaction transaction) {
    return requests.get(name(transaction));
  }

  private static String name(Transaction transaction) {
    return transaction.client().principal() + " " + transaction.requestId();
  }

  /** The tasks of a group that wait at a time. */
  List<Task> waiting(String group, long nowMillis) {
    return tasks.values().stream()
        .filter(task -> task.group().equals(group))
        .filter(task -> task.stateAt(nowMillis) == Task.State.WAITING)
        .toList();
  }

  /** How many tasks of a group are held through a claim at a time. */
  int claimed(String group, long nowMillis) {
    return (int)
        tasks.values().stream()
            .filter(task -> task.group().equals(group) && task.token() != 0)
            .filter(task -> task.stateAt(nowMillis) == Task.State.CLAIMED)
            .count();
  }

  /** What all this takes in memory, by the store's own estimates. */
  long memoryBytes() {
    long bytes = 0;
    Set<String> groups = new TreeSet<>();
    for (Task task : tasks.values()) {
      bytes += Sizes.of(task);
      groups.add(task.group());
    }
    for (String group : groups) {
      bytes += Sizes.ofGroup(group);
    }
    for (Document document : documents.values()) {
      bytes += Sizes.of(document);
    }
    for (Remembered remembered : requests.values()) {
      bytes += Sizes.of(remembered.event());
    }
    return bytes;
  }

  /** Time passes: answers of ten minutes ago are forgotten. */
  void advance(long nowMillis) {
    requests.values().removeIf(each -> each.event().timeMillis() + 600_000 <= nowMillis);
  }

  /** Does what a commit says; its numbers are new and grow, or it is refused. */
  void apply(Event event) {
    commits = event.number();
    for (Change change : event.changes()) {
      switch (change) {
        case Change.Added(Task task) -> add(task);
        case Change.Changed(long oldId, Task task, boolean dataKept) -> {
          Task old = require(tasks.remove(oldId), change);
          boolean fits =
              old.group().equals(task.group())
                  && old.origin() == task.origin()
                  && old.data().equals(task.data()) == dataKept;
          add(require(fits ? task : null, change));
        }
        case Change.Deleted(long id, long _, String _) -> require(tasks.remove(id), change);
        case Change.DocumentPut(long _, Document document) -> {
          give(document.version());
          documents.put(document.key(), document);
        }
        case Change.DocumentDeleted(DocumentKey key, long _) ->
            require(documents.remove(key), change);
      }
    }
  }

  /** Keeps what was asked, so that it may be asked again. */
  void remember(Transaction asked, Event event) {
    if (asked.requestId() != null) {
      requests.put(name(asked), new Remembered(asked, event));
    }
  }

  private void add(Task task) {
    give(task.id());
    tasks.put(task.id(), task);
  }

  private void give(long number) {
    if (number <= lastId || !everGiven.add(number)) {
      throw new AssertionError("number " + number + " was given after " + lastId);
    }
    lastId = number;
  }

  private static <T> T require(@Nullable T thing, Change change) {
    if (thing == null) {
      throw new AssertionError("this does not fit: " + change);
    }
    return thing;
  }
}
