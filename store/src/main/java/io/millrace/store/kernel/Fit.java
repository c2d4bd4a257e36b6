package io.millrace.store.kernel;

import io.millrace.store.Change;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import org.jspecify.annotations.Nullable;

/** Whether a commit read from a journal fits the state that it is to change. */
final class Fit {
  private Fit() {}

  /**
   * Checks every change against the state as it was before the commit.
   *
   * @throws RecordException names the first that does not fit
   */
  static void require(State state, Event event) {
    if (event.number() != state.commits() + 1) {
      throw new RecordException("commit " + event.number() + " follows commit " + state.commits());
    }
    for (Change change : event.changes()) {
      String problem = problemOf(state, change);
      if (problem != null) {
        throw new RecordException("commit " + event.number() + " " + problem);
      }
    }
  }

  private static @Nullable String problemOf(State state, Change change) {
    return switch (change) {
      case Change.Added(Task task) ->
          task.id() > 0 && state.find(TaskRef.id(task.id())) == null
              ? null
              : "adds task " + task.id() + ", which is there or no id";
      case Change.Changed(long oldId, Task task, boolean _) ->
          problemOf(state, oldId, task.origin(), task.group());
      case Change.Deleted(long id, long origin, String group) ->
          problemOf(state, id, origin, group);
      case Change.DocumentPut(long oldVersion, Document document) -> {
        Document old = state.document(document.key());
        yield (old == null ? 0 : old.version()) == oldVersion
            ? null
            : "replaces version " + oldVersion + " of " + document.key() + ", not " + old;
      }
      case Change.DocumentDeleted(var key, long oldVersion) -> {
        Document old = state.document(key);
        yield old != null && old.version() == oldVersion
            ? null
            : "deletes version " + oldVersion + " of " + key + ", which is not there";
      }
    };
  }

  private static @Nullable String problemOf(State state, long id, long origin, String group) {
    Task old = id > 0 ? state.find(TaskRef.id(id)) : null;
    if (old == null) {
      return "changes task " + id + ", which is not there";
    }
    return old.origin() == origin && old.group().equals(group)
        ? null
        : "changes task " + id + " of another origin or group";
  }
}
