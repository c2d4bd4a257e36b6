package io.millrace.server.crash;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All that a store holds while nobody changes it.
 *
 * @param position where it stands
 * @param tasks its tasks by id
 * @param documents its documents by key
 */
record Contents(Position position, Map<Long, Task> tasks, Map<DocumentKey, Document> documents) {
  /** The collection in which the tests keep their documents. */
  static final String COLLECTION = "progress";

  static Contents of(TaskStore store) {
    Read<List<GroupSummary>> groups = store.groups();
    Map<Long, Task> tasks = new HashMap<>();
    for (GroupSummary group : groups.value()) {
      for (Task task : store.group(GroupQuery.all(group.name())).value()) {
        tasks.put(task.id(), task);
      }
    }
    Map<DocumentKey, Document> documents = new HashMap<>();
    for (Document document : store.documents(DocumentQuery.prefix(COLLECTION, "")).value()) {
      documents.put(document.key(), document);
    }
    return new Contents(groups.position(), tasks, documents);
  }
}
