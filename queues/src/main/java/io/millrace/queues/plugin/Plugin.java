package io.millrace.queues.plugin;

/**
 * A plugin in Java: the work that a queue does for its tasks.
 *
 * <p>A class with a public constructor without parameters. A new object is created for each task.
 * It runs in the process of a task runner, one task at a time; the next task may see what it keeps
 * in static fields. Processes that it starts are killed if the runner dies or is killed.
 */
@FunctionalInterface
public interface Plugin {
  /**
   * Does the work of one task.
   *
   * @return the status of the task: 1 for success, 2 for failure, another positive number with a
   *     meaning of the plugin's own. Anything else becomes 2, and the reason is added to standard
   *     error
   * @throws Exception for a failure: the status becomes 2, and the stack trace is added to standard
   *     error
   */
  int run(PluginTask task) throws Exception;
}
