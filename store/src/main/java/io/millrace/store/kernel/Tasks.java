package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Task;

/** Copies of tasks with one field changed. */
final class Tasks {
  private Tasks() {}

  static Task withData(Task task, Bytes data) {
    return new Task(
        task.id(),
        task.origin(),
        task.group(),
        task.availableAtMillis(),
        task.owner(),
        task.token(),
        task.claims(),
        data);
  }
}
