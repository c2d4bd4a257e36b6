package io.millrace.cli.graph;

import io.millrace.cli.graph.view.KnownNodes;
import io.millrace.cli.graph.view.NodeLine;
import io.millrace.cli.graph.view.NodeLine.Colours;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.State;
import io.millrace.cli.graph.view.TreeLines.LiveTree;
import io.millrace.cli.remote.WaitReasons;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreException;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows the changes of a graph while a command waits. For one thread. */
interface Monitor {
  /** Shows nothing. */
  Monitor SILENT = (_, _, _) -> {};

  /**
   * Shows a change.
   *
   * @param changed the nodes that are new or in another state
   * @param removed the ids of the nodes that were removed
   */
  void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed);

  /** Called while nothing changes, to update durations. */
  default void tick(KnownNodes known) {}

  /** Whether its output ends with the number of nodes in each state. */
  default boolean sumsUp() {
    return false;
  }

  /** Shows the final state. */
  default void end(KnownNodes known) {}

  /**
   * Prints a line for every change, with the time.
   *
   * @param out the stream to print to
   * @param colours the colours
   */
  record Lines(PrintStream out, Colours colours) implements Monitor {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    @Override
    public void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed) {
      long now = System.currentTimeMillis();
      String time = TIME.format(Instant.ofEpochMilli(now).atZone(ZoneId.systemDefault()));
      changed.forEach(node -> out.println(time + "  " + NodeLine.of(node, colours, now)));
      removed.forEach(id -> out.println(time + "  " + id + " removed"));
      out.flush();
    }
  }

  /** Draws a tree on a screen, at most ten times a second, and once a second while a node runs. */
  static final class Tree implements Monitor {
    private static final long ROUND_NANOS = 100_000_000;
    private static final long SECOND_NANOS = 1_000_000_000;

    private final LiveTree tree;
    private long drawnNanos = System.nanoTime() - SECOND_NANOS;
    private boolean stale;

    Tree(LiveTree tree) {
      this.tree = tree;
    }

    @Override
    public void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed) {
      stale = true;
      tick(known);
    }

    @Override
    public void tick(KnownNodes known) {
      long rested = System.nanoTime() - drawnNanos;
      boolean moving = known.count(State.RUNNING) > 0 && rested >= SECOND_NANOS;
      if (moving || (stale && rested >= ROUND_NANOS)) {
        draw(known);
      }
    }

    @Override
    public boolean sumsUp() {
      return true;
    }

    @Override
    public void end(KnownNodes known) {
      draw(known);
    }

    private void draw(KnownNodes known) {
      tree.draw(known, System.currentTimeMillis());
      drawnNanos = System.nanoTime();
      stale = false;
    }
  }

  /**
   * Shows changes, and why nothing happens after some seconds without any.
   *
   * @param shown shows the changes
   * @param reasons asks the server
   * @param say shows a reason
   */
  record Explained(Monitor shown, WaitReasons reasons, Consumer<String> say) implements Monitor {
    @Override
    public void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed) {
      reasons.progressed();
      shown.show(known, changed, removed);
    }

    @Override
    public void tick(KnownNodes known) {
      if (reasons.dueMillis() == 0) {
        // One that is running may have been handed on, and wait elsewhere.
        Stream.of(State.READY, State.RUNNING, State.INCIPIENT)
            .flatMap(state -> known.nodes().stream().filter(node -> node.state() == state))
            .filter(node -> !node.type().equals("group"))
            .findFirst()
            .ifPresent(node -> explain(node.id()));
      }
      shown.tick(known);
    }

    private void explain(long id) {
      try {
        reasons.ask(Long.toString(id)).ifPresent(say);
      } catch (StoreException _) {
        // The changes that are followed tell whether the server is there.
      }
    }

    @Override
    public boolean sumsUp() {
      return shown.sumsUp();
    }

    @Override
    public void end(KnownNodes known) {
      shown.end(known);
    }
  }

  /** Prints the output of nodes line by line, each line after the name of its node. */
  static final class Output implements Monitor {
    /** How long to wait for the rest of the output after the nodes have ended. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(30);

    private final JsonCalls calls;
    private final PrintStream out;
    private final Monitor states;
    private final Map<Long, NodeOutput> outputs = new HashMap<>();

    /**
     * Nothing printed yet.
     *
     * @param states shows the states as well
     */
    Output(JsonCalls calls, PrintStream out, Monitor states) {
      this.calls = calls;
      this.out = out;
      this.states = states;
    }

    @Override
    public void show(KnownNodes known, List<NodeView> changed, Collection<Long> removed) {
      for (NodeView node : changed) {
        if (node.started() > 0 && !node.type().equals("group")) {
          follow(node);
        }
      }
      states.show(known, changed, removed);
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
    public void end(KnownNodes known) {
      if (known.isSettled()) {
        long endNanos = System.nanoTime() + LONGEST_REST.toNanos();
        outputs.values().forEach(output -> output.await(endNanos));
      }
      states.end(known);
    }
  }

  /** The output of one attempt of a node; a thread of its own prints it line by line. */
  final class NodeOutput {
    private static final Logger LOG = LoggerFactory.getLogger(NodeOutput.class);

    private final int attempt;
    private final String prefix;
    private final PrintStream out;
    private final OutputCommand.OutputFollower follower;
    private final StringBuilder line = new StringBuilder();
    private final Thread thread;
    private final CountDownLatch end = new CountDownLatch(1);

    private NodeOutput(JsonCalls calls, NodeView node, PrintStream out) {
      attempt = node.attempt();
      prefix = Table.printable(node.title()) + " | ";
      this.out = out;
      follower =
          new OutputCommand.OutputFollower(calls, String.valueOf(node.id()), "mixedout", this::add);
      thread = Thread.ofVirtual().name("millrace-output-" + node.id()).unstarted(this::read);
    }

    /** Starts to print. */
    static NodeOutput follow(JsonCalls calls, NodeView node, PrintStream out) {
      NodeOutput output = new NodeOutput(calls, node, out);
      output.thread.start();
      return output;
    }

    int attempt() {
      return attempt;
    }

    /** Tells the thread that the node has ended and writes no more. */
    void end() {
      end.countDown();
    }

    /** Waits until everything is printed or the time is over. */
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
          // Checked before reading, so that output written before the end is not missed.
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
}
