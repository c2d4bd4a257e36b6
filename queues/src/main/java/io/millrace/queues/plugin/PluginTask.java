package io.millrace.queues.plugin;

import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/** One task, as a plugin sees it. Safe for use by any number of threads, except for the streams. */
public interface PluginTask {
  /** The id of the task, 24 hexadecimal digits. */
  String id();

  /** The id of its queue, 24 hexadecimal digits. */
  String queue();

  /** The name of the node on which it runs. */
  String node();

  /**
   * The fencing token of this run: a later run of the same task has a larger one. Systems to which
   * the task writes can refuse writers whose token is smaller than one that they have seen.
   */
  long token();

  /** The parameters of the task; a copy, which may be changed. */
  ObjectNode params();

  /** The run of a schedule that the task is; empty for other tasks. */
  default Optional<ScheduledTime> scheduled() {
    return Optional.empty();
  }

  /**
   * The run of a schedule.
   *
   * @param schedule the name of the schedule
   * @param nominal the time of the run by the schedule
   * @param started when the schedule created the task
   */
  record ScheduledTime(String schedule, Instant nominal, Instant started) {}

  /**
   * The span of this run, by which the plugin can continue the trace of its submitter: {@code
   * TRACEPARENT} and, if there is one, {@code TRACESTATE}, as in W3C Trace Context; empty if the
   * task belongs to no trace.
   */
  default Map<String, String> trace() {
    return Map.of();
  }

  /** An empty folder for this run alone; removed afterwards. */
  Path folder();

  /**
   * Its standard output; {@code System.out} is the same while the task runs. It never fails: what
   * exceeds the limits or finds no room is dropped.
   */
  OutputStream stdout();

  /** Its standard error; {@code System.err} is the same while the task runs. */
  OutputStream stderr();

  /**
   * Whether the task is to end. The thread of {@link Plugin#run} is then interrupted as well. If it
   * has not returned after the grace period, its process is killed.
   */
  boolean isCancelled();

  /**
   * If this attempt fails and is tried again, the next one begins after this delay, instead of the
   * pause that the settings of the task or queue say.
   *
   * @param delay not negative
   */
  default void retryAfter(Duration delay) {
    throw new UnsupportedOperationException("this task cannot be tried again");
  }

  /**
   * Puts the task off: when {@link Plugin#run} returns, whatever it returns, the task is queued
   * again. This start does not count as an attempt, but the settings limit how often a task may
   * snooze.
   *
   * @param delay after which it may start again, not negative
   */
  default void snooze(Duration delay) {
    throw new UnsupportedOperationException("this task cannot be put off");
  }

  /** Calls {@code action} when the task is to end; at once if it already is. */
  void onCancel(Runnable action);
}
