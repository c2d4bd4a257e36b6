package io.millrace.cli.queues;

import io.millrace.cli.remote.Limits;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.Sort;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What can be said about a queue besides its name and plugin. */
final class QueueOptions {
  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      description =
          "The most tasks that run at a time over all nodes; 0 or none runs nothing, which is what"
              + " a queue begins with.")
  private @Nullable String threads;

  @Option(
      names = "--sort",
      paramLabel = "ORDER",
      description = "Which task is next: fifo, lifo, or default, which is oldest first too.")
  private @Nullable Sort sort;

  @Option(
      names = "--pin",
      split = ",",
      paramLabel = "NODE",
      description = "Only these nodes serve it; goes before --ignore.")
  private List<String> pin = List.of();

  @Option(
      names = "--ignore",
      split = ",",
      paramLabel = "NODE",
      description = "These nodes do not serve it.")
  private List<String> ignore = List.of();

  @Option(names = "--any-node", description = "All nodes may serve it again.")
  private boolean anyNode;

  @Option(
      names = "--requeue-orphans",
      paramLabel = "N",
      description = "How often a task is queued again that became an orphan; 0 by default.")
  private @Nullable String requeueOrphans;

  /** Adds what was given to the fields of a request. */
  void addTo(ObjectNode fields) {
    if (threads != null) {
      fields.set("threads", Limits.read("--threads", threads));
    }
    if (sort != null) {
      fields.put("sort", sort.word());
    }
    if (anyNode) {
      if (!pin.isEmpty() || !ignore.isEmpty()) {
        throw new UsageException("--any-node goes neither with --pin nor with --ignore");
      }
      fields.putArray("nodes_pin");
      fields.putArray("nodes_ignore");
    }
    add(fields, "nodes_pin", "--pin", pin);
    add(fields, "nodes_ignore", "--ignore", ignore);
    if (requeueOrphans != null) {
      fields.put("requeue_orphans", Limits.count("--requeue-orphans", requeueOrphans));
    }
  }

  private static void add(ObjectNode fields, String field, String option, List<String> values) {
    if (values.stream().anyMatch(String::isBlank)) {
      throw new UsageException(option + " names a node without a name; --any-node undoes it");
    }
    if (!values.isEmpty()) {
      ArrayNode array = fields.putArray(field);
      values.forEach(array::add);
    }
  }
}
