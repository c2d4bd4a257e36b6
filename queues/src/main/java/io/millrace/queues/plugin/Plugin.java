package io.millrace.queues.plugin;

/**
 * A plugin in Java: what a queue does with its tasks.
 *
 * <p>A class with a public constructor without parameters. One object is made for each task. It
 * runs in the process of a task runner, one task at a time; what it keeps in static fields may be
 * seen by the next task. Processes that it starts are killed when the runner dies or has to.
 */
@FunctionalInterface
public interface Plugin {
  /**
   * Does the work of one task.
   *
   * @return the status of the task: 1 for success, 2 for failure, another positive number as the
   *     plugin sees fit. Anything else becomes 2, and the reason is added to standard error
   * @throws Exception as a failure: the status becomes 2, and the stack trace is added to standard
   *     error
   */
  int run(PluginTask task) throws Exception;
}
