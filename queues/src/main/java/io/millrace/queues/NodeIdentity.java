package io.millrace.queues;

import java.util.List;

/**
 * The process that stands behind a node's name.
 *
 * @param instance drawn at random for this start of the node
 * @param host the machine that it runs on
 * @param process the identity of the process on that machine, as {@link
 *     io.millrace.processes.ProcessIdentity} writes it
 * @param plugins the names of the plugins that it can run
 */
public record NodeIdentity(String instance, String host, String process, List<String> plugins) {
  /** Copies the list. */
  public NodeIdentity {
    plugins = List.copyOf(plugins);
  }
}
