package io.millrace.store.kernel.recovery;

import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RecordException;
import io.millrace.store.kernel.state.State;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a commit from a journal fits the state: each change by itself, and all of them
 * together.
 */
public final class EventValidator {
  private final State state;

  /** The largest id or version given so far; each new one must be larger. */
  private long lastId;

  /** The tasks and documents changed so far, each of them once; null for a single change. */
  private final @Nullable Set<Object> changed;

  private EventValidator(State state, int changes) {
    this.state = state;
    this.changed = changes > 1 ? new HashSet<>() : null;
    this.lastId = state.lastId();
  }

  /**
   * Checks every change.
   *
   * @throws RecordException if one does not fit; the message names the first
   */
  public static void require(State state, Event event) {
    if (event.number() != state.commits() + 1) {
      throw new RecordException("commit " + event.number() + " follows commit " + state.commits());
    }
    EventValidator validator = new EventValidator(state, event.changes().size());
    for (Change change : event.changes()) {
      String problem = validator.problemOf(change);
      if (problem != null) {
        throw new RecordException("commit " + event.number() + " " + problem);
      }
    }
  }

  private @Nullable String problemOf(Change change) {
    return switch (change) {
      case Change.Added(Task task) -> problemOfNew(task.id());
      case Change.Changed(long oldId, Task task, boolean _) -> {
        String problem = problemOf(oldId, task.origin(), task.group());
        Task old = problem == null ? state.find(TaskRef.id(oldId)) : null;
        if (old != null && !Objects.equals(old.lane(), task.lane())) {
          problem = "changes the key or priority of task " + oldId;
        }
        yield problem == null ? problemOfNew(task.id()) : problem;
      }
      case Change.Deleted(long id, long origin, String group) -> problemOf(id, origin, group);
      case Change.DocumentPut(long oldVersion, Document document) -> {
        String problem = problemOf(document.key(), oldVersion);
        yield problem == null ? problemOfNew(document.version()) : problem;
      }
      case Change.DocumentDeleted(DocumentKey key, long oldVersion) ->
          oldVersion == 0
              ? "deletes " + key + ", which does not exist"
              : problemOf(key, oldVersion);
    };
  }

  private @Nullable String problemOfNew(long id) {
    if (id <= lastId) {
      return "gives the id " + id + ", although " + lastId + " was given before";
    }
    lastId = id;
    return null;
  }

  private @Nullable String problemOf(long id, long origin, String group) {
    Task old = id > 0 ? state.find(TaskRef.id(id)) : null;
    if (old == null) {
      return "changes task " + id + ", which does not exist";
    }
    if (isAgain(id)) {
      return "changes task " + id + " twice";
    }
    return old.origin() == origin && old.group().equals(group)
        ? null
        : "changes task " + id + " of another origin or group";
  }

  private @Nullable String problemOf(DocumentKey key, long version) {
    Document old = state.document(key);
    if ((old == null ? 0 : old.version()) != version) {
      return "changes version " + version + " of " + key + ", not " + old;
    }
    return isAgain(key) ? "changes " + key + " twice" : null;
  }

  private boolean isAgain(Object what) {
    return changed != null && !changed.add(what);
  }
}
