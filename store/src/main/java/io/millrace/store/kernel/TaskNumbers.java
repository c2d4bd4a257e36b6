package io.millrace.store.kernel;

import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** All tasks, found by id or origin. */
final class TaskNumbers {
  private final TaskIndex byId = new TaskIndex(Task::id);

  /** Only tasks whose id is not their origin: the others are found by id. */
  private final TaskIndex byOrigin = new TaskIndex(Task::origin);

  int size() {
    return byId.size();
  }

  @Nullable Task find(TaskRef ref) {
    if (ref.id() != 0) {
      Task task = byId.get(ref.id());
      return task == null || ref.origin() == 0 || task.origin() == ref.origin() ? task : null;
    }
    Task task = byId.get(ref.origin());
    return task != null && task.origin() == ref.origin() ? task : byOrigin.get(ref.origin());
  }

  void put(Task task) {
    byId.put(task);
    if (task.id() != task.origin()) {
      byOrigin.put(task);
    }
  }

  /** Removes the task of this id, which is there. */
  Task remove(long id) {
    Task task = Objects.requireNonNull(byId.remove(id));
    if (task.id() != task.origin()) {
      byOrigin.remove(task.origin());
    }
    return task;
  }
}
