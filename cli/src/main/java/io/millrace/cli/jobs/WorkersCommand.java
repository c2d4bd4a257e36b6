package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Lists workers. */
@Command(
    name = "workers",
    description =
        "Lists the workers of the job server that are connected or were recently, or shows one of"
            + " them.")
public final class WorkersCommand extends JobCommand {
  private static final String PATH = "/api/workers";

  @Parameters(arity = "0..1", paramLabel = "ID", description = "The id of one worker.")
  private @Nullable String id;

  @Override
  protected int run(JsonCalls calls) {
    if (id != null) {
      String path = PATH + "/" + JsonCalls.part(JobCalls.KeyArguments.checked(id));
      JsonNode worker = named(() -> calls.get(path));
      if (json()) {
        out().println(worker);
      } else {
        Fields.print(out(), worker);
      }
      return ExitCode.OK;
    }
    JsonNode workers = calls.get(PATH);
    if (json()) {
      out().println(workers);
      return ExitCode.OK;
    }
    Table table =
        new Table("ID", "NAME", "TYPE", "STATE", "JOBS", "SUCCEEDED", "FAILED", "LAST SEEN");
    for (JsonNode worker : workers) {
      table.row(
          Fields.text(worker.path("id")),
          Fields.text(worker.path("name")),
          Fields.text(worker.path("type")),
          Fields.text(worker.path("state")),
          worker.path("jobs").size(),
          Fields.text(worker.path("succeeded")),
          Fields.text(worker.path("failed")),
          Fields.text(worker.path("lastSeen")));
    }
    table.print(out());
    return ExitCode.OK;
  }
}
