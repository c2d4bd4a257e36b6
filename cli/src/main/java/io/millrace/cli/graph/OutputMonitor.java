package io.millrace.cli.graph;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Seen;
import io.millrace.cli.graph.view.State;
import io.millrace.client.JsonCalls;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Prints what nodes print, by lines, each after the name of its node. */
final class OutputMonitor implements Monitor {
  /** The last words of a node are there when its end is. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(30);

  private final JsonCalls calls;
  private final PrintStream out;
  private final Monitor states;
  private final Map<Long, NodeOutput> outputs = new HashMap<>();

  /**
   * Nothing printed yet.
   *
   * @param states shows the states besides
   */
  OutputMonitor(JsonCalls calls, PrintStream out, Monitor states) {
    this.calls = calls;
    this.out = out;
    this.states = states;
  }

  @Override
  public void show(Seen seen, List<NodeView> changed, Collection<Long> removed) {
    for (NodeView node : changed) {
      if (node.started() > 0 && !node.type().equals("group")) {
        follow(node);
      }
    }
    states.show(seen, changed, removed);
  }

  private void follow(NodeView node) {
    NodeOutput output = outputs.get(node.id());
    if (output == null || output.attempt() < node.attempt()) {
      if (output != null) {
        output.end();
      }
      output = NodeOutput.follow(calls, node, out);
      outputs.put(node.id(), output);
    }
    if (node.state() != State.RUNNING) {
      output.end();
    }
  }

  @Override
  public void end(Seen seen) {
    if (seen.isSettled()) {
      long endNanos = System.nanoTime() + LAST_WORDS.toNanos();
      outputs.values().forEach(output -> output.await(endNanos));
    }
    states.end(seen);
  }
}
