package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Shows jobs. */
@Command(name = "show", description = "Shows all that is known of jobs, with how they failed.")
final class ShowCommand extends JobCommand {
  private static final String HISTORY = "history";
  private static final String RETURNS = "returnHistory";

  @Mixin private KeyArguments jobs = new KeyArguments();

  ShowCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException {
    List<JsonNode> found = new ArrayList<>();
    for (String key : jobs.read(terminal())) {
      ObjectNode job = (ObjectNode) JobCalls.find(calls, key);
      String path = JobCalls.path(job.path("id").asString());
      job.set(HISTORY, named(() -> calls.get(path + "/failures")));
      job.set(RETURNS, named(() -> calls.get(path + "/returns")));
      found.add(job);
    }
    if (json()) {
      out().println(found);
      return ExitCode.OK;
    }
    found.forEach(this::show);
    return ExitCode.OK;
  }

  private void show(JsonNode job) {
    Table table = new Table("FIELD", "VALUE");
    for (Map.Entry<String, JsonNode> field : job.properties()) {
      switch (field.getKey()) {
        case HISTORY, RETURNS -> {}
        case "progress" -> table.row("progress", JobTable.progress(field.getValue()));
        default -> table.row(field.getKey(), Fields.text(field.getValue()));
      }
    }
    table.print(out());
    for (JsonNode attempt : job.path(RETURNS)) {
      out()
          .println(
              Table.printable(
                  "returned at %s by %s: %s"
                      .formatted(
                          Fields.text(attempt.path("at")),
                          Fields.text(attempt.path("workerId")),
                          Fields.text(attempt.path("reason")))));
    }
    for (JsonNode failure : job.path(HISTORY)) {
      out()
          .println(
              Table.printable(
                  "failed at %s with %s: %s"
                      .formatted(
                          Fields.text(failure.path("at")),
                          Fields.text(failure.path("workerId")),
                          Fields.text(failure.path("info")))));
      // The worker's own words, with nothing in them that could steer a terminal.
      failure
          .path("logs")
          .asString("")
          .lines()
          .forEach(line -> out().println("  " + Table.printable(line)));
    }
  }
}
