package io.millrace.server.queues;

import io.millrace.queues.Archive;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueTask;
import io.millrace.queues.TaskRegistry;
import io.millrace.queues.search.ArchiveSearch.Found;
import java.util.List;
import java.util.Optional;

/** All tasks by id, those in the archive too. */
record KnownTasks(TaskRegistry tasks, Archive archived) {
  private static final String NOT_FOUND = "task not found";

  /** The id that a path names. */
  static ObjectId id(String text) {
    return Input.id("id", text, NOT_FOUND);
  }

  /**
   * The task of this id.
   *
   * @throws Refusal when there is none
   */
  Found find(String text) {
    ObjectId id = id(text);
    return tasks
        .find(id)
        .map(task -> new Found(task, false))
        .or(() -> inArchive(id).map(task -> new Found(task, true)))
        .orElseThrow(() -> Refusal.of(NOT_FOUND, "id", text));
  }

  private Optional<QueueTask> inArchive(ObjectId id) {
    return Optional.ofNullable(archived.find(List.of(id)).get(id));
  }

  /** Why a task that is not in the store cannot be changed. */
  Refusal missing(String text) {
    return inArchive(id(text)).isPresent()
        ? Refusal.of("the task is archived and does not change any more", "id", text)
        : Refusal.of(NOT_FOUND, "id", text);
  }
}
