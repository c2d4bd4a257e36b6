package io.millrace.queues;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the stored configuration says to a node.
 *
 * @param label a word for people; null for none
 * @param taskRunner the command that starts task runners, instead of the node's own; empty for that
 * @param plugins names of plugins that may be used for queues, beside the built-in and found ones
 * @param activeQueues ids or names of the only queues to serve; empty for all. Where this is not
 *     empty, {@code ignoreQueues} does not count
 * @param ignoreQueues ids or names of queues not to serve
 * @param logLevel {@code error}, {@code warn}, {@code info}, {@code debug} or {@code trace}; null
 *     for what the node was started with
 * @param output what is kept of the output of tasks
 */
public record NodeConfig(
    @Nullable String label,
    List<String> taskRunner,
    List<String> plugins,
    List<String> activeQueues,
    List<String> ignoreQueues,
    @Nullable String logLevel,
    OutputLimits output) {
  /** Serves all queues. */
  public static final NodeConfig DEFAULTS =
      new NodeConfig(null, List.of(), List.of(), List.of(), List.of(), null, OutputLimits.DEFAULTS);

  /** Copies the lists. */
  public NodeConfig {
    taskRunner = List.copyOf(taskRunner);
    plugins = List.copyOf(plugins);
    activeQueues = List.copyOf(activeQueues);
    ignoreQueues = List.copyOf(ignoreQueues);
  }

  /** Whether a node of this configuration and name serves a queue. */
  public boolean serves(String node, Queue queue) {
    boolean wanted =
        activeQueues.isEmpty() ? !names(ignoreQueues, queue) : names(activeQueues, queue);
    return wanted && queue.settings().mayRunOn(node);
  }

  private static boolean names(List<String> queues, Queue queue) {
    return queues.contains(queue.id().hex()) || queues.contains(queue.name());
  }
}
