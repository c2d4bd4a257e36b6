package io.millrace.cli.storm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A graph of shell commands and of nodes that wait for a time: chains that fork and join, commands
 * that succeed only when repeated, and some that fail for good, below which one runs nevertheless.
 *
 * @param nodes in an order in which parents come first
 */
record CommandGraph(List<RandomNode> nodes) {
  /** Parents are among so many of the latest nodes, so that chains become long. */
  private static final int NEAR = 40;

  private static final int MAX_FAILURES = 2;
  private static final int REPEATABLE = 3;
  private static final int SPREAD_MILLIS = 5_000;

  /**
   * A node.
   *
   * @param number its place among all
   * @param parents the numbers of its parents
   * @param always whether it runs however its parents have ended
   * @param work what it does
   */
  record RandomNode(int number, List<Integer> parents, boolean always, NodeWork work) {
    /** Whether it runs a command. */
    boolean isCommand() {
      return work instanceof Command;
    }

    /** The number of the last attempt. */
    int attempts() {
      return work instanceof Command command ? command.failures() + 1 : 1;
    }

    /** The state in which it ends. */
    String state() {
      return work instanceof Command command && command.exit() > 0 ? "failed" : "finished";
    }
  }

  /** What a node does. */
  sealed interface NodeWork {}

  /**
   * Waits for a time.
   *
   * @param millis when, counted from when the graph is added
   */
  record Wait(int millis) implements NodeWork {}

  /**
   * Runs a script.
   *
   * @param failures how many attempts fail before one that does not
   * @param exit the exit code of that one
   * @param millis how long it takes
   */
  record Command(int failures, int exit, int millis) implements NodeWork {
    private String script(Path log) {
      return CommandLog.saying(log)
          + String.format(
              Locale.ROOT,
              """
              say begin
              echo "begun $MILLRACE_NODE_ID"
              sleep %.3f
              echo "ended $MILLRACE_NODE_ID" >&2
              say end
              [ "$MILLRACE_ATTEMPT" -gt %d ] || exit %d
              exit %d
              """,
              millis / 1e3,
              failures,
              REPEATABLE,
              exit);
    }
  }

  /** Draws one of so many nodes, so many of them commands, spread among the others. */
  static CommandGraph draw(int count, int commands, SplittableRandom random) {
    List<RandomNode> nodes = new ArrayList<>();
    List<Integer> possible = new ArrayList<>();
    int failing = -1;
    long drawn = 0;
    for (int i = 0; i < count; i++) {
      List<Integer> parents = parents(possible, random);
      boolean always = failing >= 0;
      if (always) {
        parents.add(failing);
      }
      boolean command = drawn * count < (long) commands * (i + 1);
      NodeWork work = command ? command(drawn++, random) : new Wait(random.nextInt(SPREAD_MILLIS));
      nodes.add(new RandomNode(i, parents, always, work));
      boolean fails = nodes.getLast().state().equals("failed");
      failing = fails ? i : -1;
      if (!fails) {
        possible.add(i);
      }
    }
    return new CommandGraph(nodes);
  }

  private static Command command(long number, SplittableRandom random) {
    int failures = number % 10 == 4 ? random.nextInt(1, MAX_FAILURES + 1) : 0;
    int exit = number % 10 == 9 ? random.nextInt(1, 128) : 0;
    return new Command(failures, exit, random.nextInt(200, 800));
  }

  private static List<Integer> parents(List<Integer> possible, SplittableRandom random) {
    List<Integer> near = possible.subList(Math.max(0, possible.size() - NEAR), possible.size());
    int some = random.nextInt(10) < 7 ? 1 : random.nextInt(4);
    return random
        .ints(some, 0, Math.max(1, near.size()))
        .filter(i -> i < near.size())
        .distinct()
        .mapToObj(near::get)
        .collect(ArrayList::new, List::add, List::addAll);
  }

  /**
   * What adds all of it in one request.
   *
   * @param log the file that the commands write to
   * @param nowMillis what the waits count from, in milliseconds since 1970
   */
  ArrayNode request(Path log, long nowMillis) {
    ArrayNode request = JsonNodeFactory.instance.arrayNode();
    for (RandomNode node : nodes) {
      ObjectNode each = request.addObject();
      ObjectNode metadata =
          each.putObject("metadata")
              .put("type", node.isCommand() ? "shell command" : "wait for")
              .put("local", "n" + node.number())
              .put("always", node.always());
      ArrayNode parents = metadata.putArray("parents");
      node.parents().forEach(parent -> parents.add("local:n" + parent));
      ObjectNode data = each.putObject("data");
      switch (node.work()) {
        case Wait wait -> data.put("time", nowMillis + wait.millis());
        case Command command ->
            data.put("command", command.script(log))
                .put("retries", command.failures())
                .put("backoff", 0.1);
      }
    }
    return request;
  }
}
