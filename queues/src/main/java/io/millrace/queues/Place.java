package io.millrace.queues;

import io.millrace.store.TaskRef;

/**
 * Where something stands in the store: a kernel task and a document.
 *
 * @param task the kernel task. For a queue or node its id, and the task is replaced whenever a
 *     setting changes, so that claims can depend on it; for a queue task its origin
 * @param version the version of the document
 */
public record Place(long task, long version) {
  TaskRef byId() {
    return TaskRef.id(task);
  }

  TaskRef byOrigin() {
    return TaskRef.origin(task);
  }
}
