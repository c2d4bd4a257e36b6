package io.millrace.queues.plugin;

import java.io.OutputStream;
import java.nio.file.Path;
import tools.jackson.databind.node.ObjectNode;

/** One task, as a plugin sees it. Safe for use by any number of threads but for the streams. */
public interface PluginTask {
  /** The id of the task, 24 hexadecimal digits. */
  String id();

  /** The id of its queue, 24 hexadecimal digits. */
  String queue();

  /** The name of the node that it runs on. */
  String node();

  /**
   * The fencing token of this run: a later run of the same task has a larger one. Whatever the task
   * writes to can refuse those who come with a smaller token than it has seen.
   */
  long token();

  /** What makes the task different from others; a copy, which may be changed. */
  ObjectNode params();

  /** An empty folder for this run alone, removed after it. */
  Path folder();

  /**
   * Its standard output; {@code System.out} is the same while the task runs. It never fails: what
   * goes beyond the limits or finds no room is dropped.
   */
  OutputStream stdout();

  /** Its standard error; {@code System.err} is the same while the task runs. */
  OutputStream stderr();

  /**
   * Whether the task is to end. The thread of {@link Plugin#run} is interrupted then as well. When
   * it has not returned after the grace, its process is killed.
   */
  boolean isCancelled();

  /** Calls {@code action} once the task is to end, at once if it already is. */
  void onCancel(Runnable action);
}
