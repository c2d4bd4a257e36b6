package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Lists batches. */
@Command(
    name = "batches",
    description = "Lists the batches; those that are named with how many of their jobs are where.")
final class BatchesCommand extends JobCommand {
  private static final String PATH = "/api/batches";
  private static final int PAGE = 1_000;

  @Parameters(arity = "0..*", paramLabel = "N", description = "Numbers of batches.")
  private List<Long> numbers = List.of();

  BatchesCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    List<JsonNode> batches = numbers.isEmpty() ? all(calls) : named(calls);
    if (json()) {
      out().println(batches);
      return ExitCode.OK;
    }
    if (numbers.isEmpty()) {
      Table table = new Table("BATCH", "TYPE", "SIZE", "CAPACITY", "FULL");
      batches.forEach(batch -> table.row(cells(batch, List.of())));
      table.print(out());
    } else {
      List<String> statuses = List.of("pending", "running", "done", "failed");
      Table table =
          new Table(
              "BATCH", "TYPE", "SIZE", "CAPACITY", "FULL", "PENDING", "RUNNING", "DONE", "FAILED");
      batches.forEach(batch -> table.row(cells(batch, statuses)));
      table.print(out());
    }
    return ExitCode.OK;
  }

  private static Object[] cells(JsonNode batch, List<String> statuses) {
    List<Object> cells = new ArrayList<>();
    for (String field : List.of("id", "type", "size", "capacity", "full")) {
      cells.add(Fields.text(batch.path(field)));
    }
    statuses.forEach(status -> cells.add(Fields.text(batch.path("jobs").path(status))));
    return cells.toArray();
  }

  private List<JsonNode> named(JsonCalls calls) {
    List<JsonNode> batches = new ArrayList<>();
    for (long number : numbers) {
      if (number < 1) {
        throw new UsageException("batches are numbered from 1, not " + number);
      }
      batches.add(named(() -> calls.get(PATH + "/" + number)));
    }
    return batches;
  }

  private static List<JsonNode> all(JsonCalls calls) {
    List<JsonNode> batches = new ArrayList<>();
    JsonNode page = calls.get(PATH + "?limit=" + PAGE);
    while (!page.isEmpty()) {
      page.forEach(batches::add);
      page = calls.get(PATH + "?limit=" + PAGE + "&after=" + batches.getLast().path("id").asLong());
    }
    return batches;
  }
}
