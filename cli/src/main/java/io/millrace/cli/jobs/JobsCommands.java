package io.millrace.cli.jobs;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands on jobs, under one name. */
public final class JobsCommands {
  private static final Map<String, String> ENDS =
      Map.of("6", "a job failed", "7", "--timeout was over before all jobs had ended");

  private JobsCommands() {}

  /** With all that belongs to it. */
  public static CommandLine group() {
    CommandLine jobs =
        CommandGroup.of("jobs", "Submits, lists, shows, waits for and changes jobs.");
    CommandGroup.add(jobs, ENDS, new SubmitCommand(), new WaitForJobs());
    CommandGroup.add(
        jobs, Map.of(), new ListCommand(), new ShowJobs(), new ResultCommand(), new ListBatches());
    addOperation(
        jobs, "retry", "Offers failed jobs to workers again and resets their failure counts.");
    addOperation(
        jobs,
        "cancel",
        "Fails pending and running jobs permanently; a result that a worker sends later is"
            + " refused.");
    addOperation(
        jobs, "delete", "Deletes jobs of any status, with their payloads, results and history.");
    return jobs;
  }

  private static void addOperation(CommandLine jobs, String name, String description) {
    CommandGroup.add(jobs, name, description, new OperateCommand(name));
  }

  /** Waits for jobs. */
  @Command(name = "wait", description = "Waits until jobs have ended; the exit code says how.")
  private static final class WaitForJobs extends JobCommand {
    @Mixin private JobCalls.KeyArguments jobs = new JobCalls.KeyArguments();

    @Mixin private Waiter.Options options = new Waiter.Options();

    @Option(
        names = {"-q", "--quiet"},
        description = "Prints no results.")
    private boolean quiet;

    @Override
    protected int run(JsonCalls calls) throws IOException, InterruptedException {
      List<String> keys = jobs.read(terminal()).stream().distinct().toList();
      return new JobWaiter(calls, terminal(), options, json(), quiet).until(keys);
    }
  }

  /** Lists batches. */
  @Command(name = "batches", description = "Lists the batches, or shows the job counts of some.")
  private static final class ListBatches extends JobCommand {
    private static final String PATH = "/api/batches";
    private static final int PAGE = 1_000;

    @Parameters(
        arity = "0..*",
        paramLabel = "N",
        description = "Numbers of batches to show with their job counts.")
    private List<Long> numbers = List.of();

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
                "BATCH",
                "TYPE",
                "SIZE",
                "CAPACITY",
                "FULL",
                "PENDING",
                "RUNNING",
                "DONE",
                "FAILED");
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
        page =
            calls.get(PATH + "?limit=" + PAGE + "&after=" + batches.getLast().path("id").asLong());
      }
      return batches;
    }
  }

  /** Shows jobs. */
  @Command(name = "show", description = "Shows jobs with all details and failures.")
  private static final class ShowJobs extends JobCommand {
    private static final String HISTORY = "history";
    private static final String RETURNS = "returnHistory";

    @Mixin private JobCalls.KeyArguments jobs = new JobCalls.KeyArguments();

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
          case "progress" -> table.row("progress", ListCommand.JobTable.progress(field.getValue()));
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
}
