package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/**
 * Carries out the runs of a node, in processes that outlive the node, or simulated. A runner moves
 * its task to running, renews its claim, and reports its end to the store itself. For use by one
 * node.
 */
public interface Runners extends AutoCloseable {

  /** Is told about the runners of a node. Called by any thread, at any time; must be quick. */
  interface Listener {
    /** A runner has reported the end of its task to the store, or has lost its claim. */
    void ended(ObjectId task);

    /**
     * The process of a runner ended before it reported, and nothing of its work is left.
     *
     * @param reason what is known about its end
     */
    void lost(ObjectId task, String reason);

    /** A runner that was started has begun, so that fewer are starting. */
    default void begun() {}

    /**
     * The process that was started for a task ended before it began: nothing has worked on the
     * task. Counts as {@link #lost} unless a node says otherwise.
     *
     * @param reason what is known about its end
     */
    default void notStarted(ObjectId task, String reason) {
      lost(task, reason);
    }
  }

  /**
   * Begins to watch, and finds the runners of these runs again that an earlier start of this node
   * left behind. Called once, before all else.
   *
   * @return the tasks that a runner has, about which the listener will be told; no process works on
   *     the others, and none will
   */
  Set<ObjectId> recover(Collection<Run> runs, Listener listener);

  /**
   * Hands a claimed run to a runner, unless it is better to wait for a moment: when all warm
   * runners are busy, one of them may be free sooner than another is started. If the run was not
   * taken, the caller tries again when a runner has ended a task, and calls {@link #begin} if that
   * takes too long.
   *
   * @param plugin the plugin that runs it
   * @return whether a runner has it
   * @throws RunnerException if no runner can be started; nothing works on the run then
   */
  default boolean offer(Run run, String plugin, NodeConfig config) {
    begin(run, plugin, config);
    return true;
  }

  /**
   * How many processes were started and have not begun yet, if each run gets a process of its own;
   * 0 if runners are kept warm.
   */
  default int starting() {
    return 0;
  }

  /**
   * Prepares for a first run, if runners are kept warm: starts one unless there is one. Called once
   * a minute, and whenever the configuration is read.
   */
  default void prepare(NodeConfig config) {}

  /** How many runners can be given a run at once, without the start of a process. */
  default int idle(NodeConfig config) {
    return 0;
  }

  /**
   * Hands a claimed run to a runner, warm or started for it.
   *
   * @param plugin the plugin that runs it
   * @throws RunnerException when no runner can be started; nothing works on the run then
   */
  void begin(Run run, String plugin, NodeConfig config);

  /**
   * Asks the runner of a task to end its work: TERM to its processes, KILL after {@code grace}, and
   * a report of {@link io.millrace.queues.Status#TERMINATED}. Does nothing if no runner has it.
   */
  void stop(ObjectId task, Duration grace);

  /** Stops watching and tells idle runners to end; busy ones go on. */
  @Override
  void close();

  /** A runner cannot be started. The message says why. */
  final class RunnerException extends RuntimeException {
    /** With what is wrong. */
    public RunnerException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
