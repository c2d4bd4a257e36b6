package io.millrace.cli.jobs;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace jobs}: the commands on jobs. */
@Command(
    name = "jobs",
    description = "Submits, lists, shows, waits for and changes jobs.",
    addMethodSubcommands = false)
public final class JobsCommands extends CommandGroup {
  private static final Map<String, String> ENDS =
      Map.of("6", "a job failed", "7", "--timeout expired before all jobs had ended");
  private static final String TYPES = "/api/types";
  private static final String BATCHES = "/api/batches";
  private static final int PAGE = 1_000;
  private static final String HISTORY = "history";
  private static final String RETURNS = "returnHistory";

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine jobs = with();
    add(jobs, ENDS, new SubmitCommand(), "waitFor");
    add(
        jobs,
        Map.of(),
        new ListCommand(),
        "show",
        "result",
        "batches",
        "types",
        "retry",
        "cancel",
        "delete");
    return jobs;
  }

  @Command(name = "wait", description = "Waits until jobs have ended; the exit code says how.")
  int waitFor(
      @Mixin JobServer server,
      @Mixin JobServer.Keys jobs,
      @Mixin Waiter.Options options,
      @Option(
              names = {"-q", "--quiet"},
              description = "Prints no results.")
          boolean quiet) {
    return server.run(calls -> {
      List<String> keys = jobs.read(terminal()).stream().distinct().toList();
      return new JobWaiter(calls, server, options, quiet).until(keys);
    });
  }

  @Command(name = "show", description = "Shows jobs with all details and failures.")
  int show(@Mixin JobServer server, @Mixin JobServer.Keys jobs) {
    return server.perform(calls -> {
      List<JsonNode> found = new ArrayList<>();
      for (String key : jobs.read(terminal())) {
        ObjectNode job = (ObjectNode) JobServer.find(calls, key);
        String path = JobServer.path(job.path("id").asString());
        job.set(HISTORY, ServerCommand.lookUp(() -> calls.get(path + "/failures")));
        job.set(RETURNS, ServerCommand.lookUp(() -> calls.get(path + "/returns")));
        found.add(job);
      }
      if (server.json()) {
        out().println(found);
      } else {
        found.forEach(this::show);
      }
    });
  }

  private void show(JsonNode job) {
    Table table = new Table("FIELD", "VALUE");
    job.forEachEntry((field, value) -> {
      switch (field) {
        case HISTORY, RETURNS -> {}
        case "progress" -> table.row(field, progress(value));
        default -> table.row(field, Fields.text(value));
      }
    });
    table.print(out());
    for (JsonNode attempt : job.path(RETURNS)) {
      say("returned at %s by %s: %s", attempt, "reason");
    }
    for (JsonNode failure : job.path(HISTORY)) {
      say("failed at %s with %s: %s", failure, "info");
      // Logs of the worker, without characters that could control a terminal.
      failure
          .path("logs")
          .asString("")
          .lines()
          .forEach(line -> out().println("  " + Table.printable(line)));
    }
  }

  private void say(String form, JsonNode event, String why) {
    out()
        .println(
            Table.printable(
                form.formatted(
                    Fields.text(event.path("at")),
                    Fields.text(event.path("workerId")),
                    Fields.text(event.path(why)))));
  }

  private static String progress(JsonNode progress) {
    JsonNode percent = progress.path("percent");
    String info = progress.path("info").asString("");
    if (!percent.isNumber()) {
      return info.isEmpty() ? "-" : info;
    }
    return percent.asString() + " %" + (info.isEmpty() ? "" : " " + info);
  }

  @Command(
      name = "result",
      description =
          "Writes the result of a job to standard output or to a file. The file appears only when"
              + " it is complete.")
  int result(
      @Mixin JobServer server,
      @Parameters(paramLabel = "KEY", description = "The key or GUID of the job.") String key,
      @Option(
              names = {"-o", "--output"},
              paramLabel = "FILE",
              description = "The file to write or replace. Default: -, standard output")
          @Nullable String output) {
    return server.run(calls -> {
      ResultTarget.named(terminal(), output).fetch(calls, JobServer.checked(key));
      return ExitCode.OK;
    });
  }

  @Command(name = "batches", description = "Lists the batches, or shows the job counts of some.")
  int batches(
      @Mixin JobServer server,
      @Parameters(
              arity = "0..*",
              paramLabel = "N",
              description = "Numbers of batches to show with their job counts.")
          @Nullable List<Long> numbers,
      @Option(names = "--type", paramLabel = "TYPE", description = "Only batches of this type.")
          @Nullable String type,
      @Option(
              names = "--full",
              description = "Only full batches; --no-full: only those that are being filled.",
              negatable = true)
          @Nullable Boolean full,
      @Option(names = "--newest", description = "The newest first, instead of the oldest.")
          boolean newest) {
    return server.perform(calls -> {
      Fields.Columns columns =
          new Fields.Columns().field("BATCH", "id").fields("type", "size", "capacity", "full");
      if (numbers == null || numbers.isEmpty()) {
        String query = newest ? "&order=newest" : "";
        query += type == null ? "" : "&type=" + JsonCalls.part(type);
        query += full == null ? "" : "&full=" + full;
        server.printRows(allBatches(calls, query), columns);
        return;
      }
      if (type != null || full != null || newest) {
        throw new UsageException("filters cannot be combined with the numbers of batches");
      }
      for (String status : List.of("PENDING", "RUNNING", "DONE", "FAILED")) {
        columns.with(
            status, batch -> Fields.text(batch.path("jobs").path(status.toLowerCase(Locale.ROOT))));
      }
      server.printRows(numbers.stream().map(number -> batch(calls, number)).toList(), columns);
    });
  }

  private static JsonNode batch(JsonCalls calls, long number) {
    if (number < 1) {
      throw new UsageException("batches are numbered from 1, not " + number);
    }
    return ServerCommand.lookUp(() -> calls.get(BATCHES + "/" + number));
  }

  private static List<JsonNode> allBatches(JsonCalls calls, String query) {
    List<JsonNode> batches = new ArrayList<>();
    JsonNode page = calls.get(BATCHES + "?limit=" + PAGE + query);
    while (!page.isEmpty()) {
      page.forEach(batches::add);
      long last = batches.getLast().path("id").asLong();
      page = calls.get(BATCHES + "?limit=" + PAGE + query + "&after=" + last);
    }
    return batches;
  }

  @Command(
      name = "types",
      description = {
        "Lists the types of jobs, or sets settings of one while the server runs. They take"
            + " precedence over the configuration.",
        "Example: millrace jobs types mail running=10 starts=100/1m",
        "Example: millrace jobs types mail running="
      })
  int types(
      @Mixin JobServer server,
      @Parameters(
              index = "0",
              arity = "0..1",
              paramLabel = "TYPE",
              description =
                  "The job type; - on a server without types. Lists all if it is left out.")
          @Nullable String type,
      @Parameters(
              index = "1..*",
              paramLabel = "SETTING=VALUE",
              description = "A setting; without a value it is as configured again.")
          @Nullable List<String> settings,
      @Option(names = "--default", description = "Takes back everything that was set for the type.")
          boolean asConfigured) {
    if (type == null && asConfigured) {
      throw new UsageException("--default needs a TYPE");
    }
    if (settings != null && asConfigured) {
      throw new UsageException("--default and settings exclude each other");
    }
    if (type == null) {
      return server.perform(calls -> {
        List<JsonNode> rows = new ArrayList<>();
        calls.get(TYPES).forEach(row -> rows.add(server.json() ? row : flat(row)));
        server.printRows(
            rows, new Fields.Columns().fields("name", "resultBecomes", "settings", "set"));
      });
    }
    String path = TYPES + "/" + JsonCalls.part(type);
    ObjectNode changes = ServerCommand.object();
    for (String each : settings == null ? List.<String>of() : settings) {
      int equals = each.indexOf('=');
      if (equals <= 0) {
        throw new UsageException("a setting is SETTING=VALUE, not " + each);
      }
      String value = each.substring(equals + 1);
      changes.put(each.substring(0, equals), value.isEmpty() ? null : value);
    }
    if (settings == null && !asConfigured) {
      return server.perform(calls -> {
        JsonNode found = calls.get(path);
        server.print(found, texts(found.path("settings")));
      });
    }
    return server.perform(calls -> {
      JsonNode changed = asConfigured ? calls.delete(path) : calls.patch(path, changes);
      server.print(changed, type + ": " + texts(changed.path("settings")));
    });
  }

  private static ObjectNode flat(JsonNode type) {
    ObjectNode row = (ObjectNode) type.deepCopy();
    row.put("settings", texts(type.path("settings")));
    return row.put("set", texts(type.path("set")));
  }

  /** Settings on one line, as in the configuration. */
  private static String texts(JsonNode settings) {
    List<String> texts = new ArrayList<>();
    settings.properties().forEach(one -> texts.add(one.getKey() + "=" + one.getValue().asString()));
    return String.join(" ", texts);
  }

  @Command(
      name = "retry",
      description = "Offers failed jobs to workers again and resets their failure counts.")
  int retry(@Mixin JobServer server, @Mixin JobServer.Keys jobs) {
    return operate("retry", server, jobs);
  }

  @Command(
      name = "cancel",
      description =
          "Fails pending and running jobs permanently; a result that a worker sends later is"
              + " refused.")
  int cancel(@Mixin JobServer server, @Mixin JobServer.Keys jobs) {
    return operate("cancel", server, jobs);
  }

  @Command(
      name = "delete",
      description = "Deletes jobs of any status, with their payloads, results and history.")
  int delete(@Mixin JobServer server, @Mixin JobServer.Keys jobs) {
    return operate("delete", server, jobs);
  }

  private int operate(String operation, JobServer server, JobServer.Keys jobs) {
    return server.run(calls ->
        server.each(
            jobs.read(terminal()),
            key -> calls.post(JobServer.path(key) + "/" + operation, ServerCommand.object()),
            response -> response.path("status").asString("deleted")));
  }
}
