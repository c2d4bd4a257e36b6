package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.client.JsonCalls;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Lists workers. */
@Command(
    name = "workers",
    description =
        "Lists the workers of the job server that are connected or were recently, or shows one of"
            + " them.")
public final class WorkersCommand extends JobServer implements Callable<Integer> {
  private static final String PATH = "/api/workers";
  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .fields("id", "name", "type", "state")
          .with("JOBS", worker -> worker.path("jobs").size())
          .fields("succeeded", "failed")
          .field("LAST SEEN", "lastSeen");

  @Parameters(arity = "0..1", paramLabel = "ID", description = "The id of one worker.")
  private @Nullable String id;

  @Override
  public Integer call() {
    return perform(calls -> {
      if (id == null) {
        printRows(calls.get(PATH), COLUMNS);
      } else {
        String path = PATH + "/" + JsonCalls.part(checked(id));
        printFields(lookUp(() -> calls.get(path)));
      }
    });
  }
}
