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
 * A graph of shell commands: chains that fork and join, commands that succeed only when repeated,
 * and some that fail for good, below which one runs nevertheless.
 *
 * @param nodes in an order in which parents come first
 */
record CommandGraph(List<Drawn> nodes) {
  /** Parents are among so many of the latest nodes, so that chains become long. */
  private static final int NEAR = 40;

  private static final int MOST_FAILURES = 2;
  private static final int REPEATABLE = 3;

  /**
   * A node.
   *
   * @param number its place among all
   * @param parents the numbers of its parents
   * @param failures how many attempts fail before one that does not
   * @param exit the exit code of that one
   * @param always whether it runs however its parents have ended
   * @param millis how long it takes
   */
  record Drawn(
      int number, List<Integer> parents, int failures, int exit, boolean always, int millis) {
    /** The number of the last attempt. */
    int attempts() {
      return failures + 1;
    }

    /** The state in which it ends. */
    String state() {
      return exit == 0 ? "finished" : "failed";
    }

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

  /** Draws one. */
  static CommandGraph draw(int count, SplittableRandom random) {
    List<Drawn> nodes = new ArrayList<>();
    List<Integer> possible = new ArrayList<>();
    int failing = -1;
    for (int i = 0; i < count; i++) {
      List<Integer> parents = parents(possible, random);
      boolean always = failing >= 0;
      if (always) {
        parents.add(failing);
      }
      failing = i % 10 == 9 ? i : -1;
      int failures = i % 10 == 4 ? random.nextInt(1, MOST_FAILURES + 1) : 0;
      int exit = failing < 0 ? 0 : random.nextInt(1, 128);
      nodes.add(new Drawn(i, parents, failures, exit, always, random.nextInt(200, 1_200)));
      if (exit == 0) {
        possible.add(i);
      }
    }
    return new CommandGraph(nodes);
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

  /** What adds all of it in one request; the commands write to this file. */
  ArrayNode request(Path log) {
    ArrayNode request = JsonNodeFactory.instance.arrayNode();
    for (Drawn node : nodes) {
      ObjectNode each = request.addObject();
      ObjectNode metadata =
          each.putObject("metadata")
              .put("type", "shell command")
              .put("local", "n" + node.number())
              .put("always", node.always());
      ArrayNode parents = metadata.putArray("parents");
      node.parents().forEach(parent -> parents.add("local:n" + parent));
      each.putObject("data")
          .put("command", node.script(log))
          .put("retries", node.failures())
          .put("backoff", 0.1);
    }
    return request;
  }
}
