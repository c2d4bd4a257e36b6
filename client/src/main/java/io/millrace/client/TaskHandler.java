package io.millrace.client;

/** What a worker does with a task. Called by many threads at a time. */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Works on a task that is held for it.
   *
   * <p>When the claim is lost the calling thread is interrupted, and whatever this returns has no
   * effect.
   *
   * @return what happens to the task, in one transaction
   * @throws Exception when it failed: the task is tried again, or quarantined after too many tries
   */
  Finish handle(Work work) throws Exception;
}
