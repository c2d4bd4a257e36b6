package io.millrace.client;

/** The work of a {@link Worker} on a task. Called by several threads at a time. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Works on a claimed task.
   *
   * <p>If the claim is lost, the thread is interrupted and the result has no effect.
   *
   * @return what happens to the task, in one transaction
   * @throws Exception if the work failed: the task is tried again, or quarantined after too many
   *     attempts
   */
  TaskResult handle(ClaimedTask work) throws Exception;
}
