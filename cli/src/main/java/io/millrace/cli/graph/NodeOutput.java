package io.millrace.cli.graph;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The output of one attempt of a node, printed by lines by a thread of its own. */
final class NodeOutput {
  private static final Logger LOG = LoggerFactory.getLogger(NodeOutput.class);

  private final int attempt;
  private final String prefix;
  private final PrintStream out;
  private final OutputFollower follower;
  private final StringBuilder line = new StringBuilder();
  private final Thread thread;
  private final CountDownLatch end = new CountDownLatch(1);

  private NodeOutput(JsonCalls calls, NodeView node, PrintStream out) {
    attempt = node.attempt();
    prefix = Table.printable(node.title()) + " | ";
    this.out = out;
    follower = new OutputFollower(calls, String.valueOf(node.id()), "mixedout", this::add);
    thread = Thread.ofVirtual().name("millrace-output-" + node.id()).unstarted(this::read);
  }

  /** Begins to print. */
  static NodeOutput follow(JsonCalls calls, NodeView node, PrintStream out) {
    NodeOutput output = new NodeOutput(calls, node, out);
    output.thread.start();
    return output;
  }

  int attempt() {
    return attempt;
  }

  /** Says that nothing more will come than what is there now. */
  void end() {
    end.countDown();
  }

  /** Waits until all is printed, or until then. */
  void await(long endNanos) {
    try {
      boolean done = thread.join(Duration.ofNanos(Math.max(1, endNanos - System.nanoTime())));
      if (!done) {
        LOG.warn("the output of {} is not complete", prefix);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() {
    try {
      boolean last = false;
      while (!last) {
        // Asked before it is read, so that nothing is missed that came before the end.
        last = end.await(follower.restMillis(), TimeUnit.MILLISECONDS);
        follower.read();
      }
    } catch (CommandException | StoreException e) {
      LOG.debug("the output of {} ended: {}", prefix, e.getMessage());
    } catch (InterruptedException _) {
      LOG.trace("given up");
    }
    if (!line.isEmpty()) {
      print(line.toString());
    }
  }

  private void add(String text) {
    line.append(text);
    int begin = 0;
    for (int end = line.indexOf("\n"); end >= 0; end = line.indexOf("\n", begin)) {
      print(line.substring(begin, end));
      begin = end + 1;
    }
    line.delete(0, begin);
  }

  private void print(String text) {
    // In one call, so that lines of two nodes do not mix.
    out.print(prefix + text + "\n");
    out.flush();
  }
}
