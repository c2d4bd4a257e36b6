package io.millrace.cli.graph;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import java.util.Collection;
import java.util.List;

/** How changes of a graph are shown to who waits for them. For one thread. */
interface Monitor {
  /** Shows nothing. */
  Monitor SILENT = (_, _, _) -> {};

  /**
   * Shows what is new.
   *
   * @param changed the nodes that are new or in another state
   * @param removed the ids of those that are gone
   */
  void show(Seen seen, List<NodeView> changed, Collection<Long> removed);

  /** Shows what time alone has changed. */
  default void tick(Seen seen) {}

  /** Whether the end that it shows says how many nodes are in which state. */
  default boolean sumsUp() {
    return false;
  }

  /** Shows how it stands at the end. */
  default void end(Seen seen) {}
}
