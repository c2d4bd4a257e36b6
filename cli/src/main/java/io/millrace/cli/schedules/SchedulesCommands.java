package io.millrace.cli.schedules;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace schedules}: the commands on schedules. */
@Command(
    name = "schedules",
    description = "Creates, lists, shows, pauses, runs, backfills and deletes schedules.",
    addMethodSubcommands = false)
public final class SchedulesCommands extends CommandGroup {
  private static final String PATH = "/schedules";

  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .fields("name")
          .with("TIMES", row -> rules(row.path("times")))
          .fields("zone")
          .with("DUE", SchedulesCommands::due)
          .with("STARTED", row -> count(row, "started"))
          .with("FAILED", row -> count(row, "failed"))
          .with("MISSED", row -> count(row, "missed"))
          .with("SKIPPED", row -> count(row, "skipped"));

  private static final Fields.Columns RESULTS =
      new Fields.Columns().fields("nominal", "started", "ended", "cause", "ending", "id", "reason");

  /** The group with its commands. */
  public CommandLine group() {
    return with(
        "create",
        "list",
        "show",
        "next",
        "preview",
        "pause",
        "resume",
        "run",
        "backfill",
        "delete");
  }

  private static String path(String name) {
    return PATH + "/" + JsonCalls.part(name);
  }

  /** The rules of a schedule on one line. */
  private static String rules(JsonNode rules) {
    return String.join(
        "; ",
        rules
            .valueStream()
            .map(rule ->
                rule.has("every")
                    ? "every " + rule.path("every").asString()
                    : Fields.text(rule.has("cron") ? rule.path("cron") : rule.path("at")))
            .toList());
  }

  private static String due(JsonNode schedule) {
    return schedule.path("paused").isObject() ? "paused" : Fields.text(schedule.path("due"));
  }

  private static String count(JsonNode schedule, String name) {
    return schedule.path("counts").path(name).asString();
  }

  @Command(
      name = "create",
      description = {
        "Creates or changes a schedule. The history of a changed schedule is kept.",
        "Example: millrace schedules create nightly --cron '30 2 * * *' --zone Europe/Berlin"
            + " --queue backups path=/home"
      })
  int create(@Mixin ServerCommand server, @Mixin ScheduleOptions options) {
    return server.perform(calls -> {
      String name = options.name();
      JsonNode stored = calls.put(path(name), options.form(terminal()));
      server.print(
          stored, "schedule " + name + " is next due at " + Fields.text(stored.path("due")));
    });
  }

  @Command(name = "preview", description = "Prints the times of a schedule without creating it.")
  int preview(
      @Mixin ServerCommand server,
      @Mixin TimesOptions times,
      @Mixin ScheduleOptions.Times options) {
    return server.perform(calls -> {
      ObjectNode form = ServerCommand.object();
      options.addTo(form);
      print(server, calls.post(PATH + "/preview" + times.query(), form));
    });
  }

  @Command(
      name = "list",
      description = "Lists the schedules with their next times and counts of runs.")
  int list(
      @Mixin ServerCommand.Reading server,
      @Option(names = "--prefix", paramLabel = "TEXT", description = "Only names with this prefix.")
          @Nullable String prefix,
      @Option(
              names = "--text",
              paramLabel = "TEXT",
              description = "Only schedules with this text in their name or target.")
          @Nullable String text,
      @Option(
              names = "--order",
              paramLabel = "name|due",
              description = "By name, the default, or the one that is due next first.")
          @Nullable String order,
      @Option(
              names = "--paused",
              description = "Only paused schedules; --no-paused: only the others.",
              negatable = true)
          @Nullable Boolean paused) {
    return server.perform(calls -> {
      List<JsonNode> rows = new ArrayList<>();
      String after = "";
      do {
        String query = "?limit=1000&after=" + JsonCalls.part(after);
        query += prefix == null ? "" : "&prefix=" + JsonCalls.part(prefix);
        query += text == null ? "" : "&text=" + JsonCalls.part(text);
        query += order == null ? "" : "&order=" + JsonCalls.part(order);
        query += paused == null ? "" : "&paused=" + paused;
        JsonNode page = calls.read(PATH + query);
        page.path("schedules").forEach(rows::add);
        after = page.path("next").asString("");
      } while (!after.isEmpty());
      server.printRows(rows, COLUMNS);
    });
  }

  @Command(
      name = "show",
      description = "Shows a schedule with its next times and the results of its last runs.")
  int show(@Mixin ServerCommand server, @Mixin Name name) {
    return server.perform(calls -> {
      JsonNode found = ServerCommand.lookUp(() -> calls.get(path(name.name)));
      if (server.json()) {
        out().println(found);
        return;
      }
      ObjectNode shown = (ObjectNode) found.deepCopy();
      JsonNode results = shown.remove("results");
      Fields.print(out(), shown);
      if (results != null && !results.isEmpty()) {
        out().println();
        RESULTS.print(out(), results);
      }
    });
  }

  @Command(name = "next", description = "Prints the next times of a schedule.")
  int next(@Mixin ServerCommand server, @Mixin Name name, @Mixin TimesOptions times) {
    return server.perform(calls ->
        print(
            server,
            ServerCommand.lookUp(() -> calls.get(path(name.name) + "/next" + times.query()))));
  }

  private void print(ServerCommand server, JsonNode response) {
    if (server.json()) {
      out().println(response);
    } else {
      response.path("next").forEach(time -> out().println(time.asString()));
    }
  }

  @Command(
      name = "pause",
      description = "Pauses schedules: no run starts by itself until they are resumed.")
  int pause(
      @Mixin ServerCommand server,
      @Mixin Names names,
      @Option(
              names = "--note",
              paramLabel = "TEXT",
              description = "A note for people, for example the reason.")
          @Nullable String note) {
    ObjectNode body = ServerCommand.object().put("note", note == null ? "" : note);
    return server.run(calls ->
        server.each(
            names.names, name -> calls.post(path(name) + "/pause", body), _ -> "is paused"));
  }

  @Command(
      name = "resume",
      description = "Resumes schedules. Times that passed during the pause are not run.")
  int resume(@Mixin ServerCommand server, @Mixin Names names) {
    return server.run(calls ->
        server.each(
            names.names,
            name -> calls.post(path(name) + "/resume", ServerCommand.object()),
            response -> "is next due at " + Fields.text(response.path("due"))));
  }

  @Command(
      name = "run",
      description =
          "Starts a run of each schedule at once, even if other runs are active or the schedule is"
              + " paused.")
  int run(@Mixin ServerCommand server, @Mixin Names names) {
    return server.run(calls ->
        server.each(
            names.names,
            name -> calls.post(path(name) + "/run", ServerCommand.object()),
            response -> "started " + Fields.text(response.path("id"))));
  }

  @Command(
      name = "backfill",
      description = "Runs a schedule for the times in a range that have not been run.")
  int backfill(
      @Mixin ServerCommand server,
      @Mixin Name name,
      @Option(
              names = "--from",
              required = true,
              paramLabel = "TIME",
              description = "The first time, for example 2026-12-24T18:00:00Z.")
          String from,
      @Option(
              names = "--until",
              required = true,
              paramLabel = "TIME",
              description = "The last time.")
          String until) {
    return server.perform(calls -> {
      ObjectNode range = ServerCommand.object().put("from", from).put("until", until);
      JsonNode response =
          ServerCommand.orNotFound(() -> calls.post(path(name.name) + "/backfill", range));
      String runs = response.path("runs").asString();
      server.print(
          response,
          "backfills %s%s runs of schedule %s"
              .formatted(runs, response.path("more").asBoolean() ? " or more" : "", name.name));
    });
  }

  @Command(name = "delete", description = "Deletes schedules. Their active runs continue.")
  int delete(@Mixin ServerCommand server, @Mixin Names names) {
    return server.run(
        calls -> server.each(names.names, name -> calls.delete(path(name)), _ -> "is deleted"));
  }

  /** One schedule. */
  static final class Name {
    @Parameters(paramLabel = "NAME", description = "The name of the schedule.")
    private String name = "";
  }

  /** One or more schedules. */
  static final class Names {
    @Parameters(arity = "1..*", paramLabel = "NAME", description = "The names of schedules.")
    private List<String> names = List.of();
  }

  /** Which times are printed. */
  static final class TimesOptions {
    @Option(
        names = {"-n", "--count"},
        paramLabel = "N",
        description = "How many times, up to 1000. Default: 10")
    private int count = 10;

    @Option(
        names = "--after",
        paramLabel = "TIME",
        description = "Times after this one, for example 2026-12-24T18:00:00Z. Default: now")
    private @Nullable String after;

    private String query() {
      String start = after;
      return "?count=" + count + (start == null ? "" : "&after=" + JsonCalls.part(start));
    }
  }
}
