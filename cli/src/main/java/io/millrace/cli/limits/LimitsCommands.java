package io.millrace.cli.limits;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.UsageException;
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

/** {@code millrace limits}: the commands on limits that queues, job types and nodes share. */
@Command(
    name = "limits",
    description =
        "Sets, lists and deletes limits that queues, job types and nodes of the graph share.",
    addMethodSubcommands = false)
public final class LimitsCommands extends CommandGroup {
  private static final Fields.Columns COLUMNS =
      new Fields.Columns().fields("name", "used", "running", "starts", "queues", "types", "nodes");

  /** The group with its commands. */
  public CommandLine group() {
    return with("set", "list", "show", "delete");
  }

  private static String path(String name) {
    return "/limits/" + JsonCalls.part(name);
  }

  @Command(
      name = "set",
      description = {
        "Sets a limit. It applies to the queues that name it (queues set QUEUE --limits NAME), to"
            + " job types with limits=NAME in their settings, and to nodes of the graph that name"
            + " it (graph add --limits NAME).",
        "Example: millrace limits set mail-server --running 4 --starts 100/1m"
      })
  int set(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "NAME", description = "The name of the limit.") String name,
      @Option(
              names = "--running",
              paramLabel = "N",
              description =
                  "The maximum number of running tasks, jobs and nodes of all these queues and"
                      + " types together.")
          @Nullable String running,
      @Option(
              names = "--starts",
              paramLabel = "N/TIME",
              description =
                  "The maximum rate of starts. With 100/1m, up to 100 tasks start at once, and then"
                      + " 100 a minute, evenly.")
          @Nullable String starts) {
    if (running == null && starts == null) {
      throw new UsageException("a limit needs --running, --starts or both");
    }
    ObjectNode limit = ServerCommand.object();
    if (running != null) {
      limit.put("running", Arguments.count("--running", running));
    }
    if (starts != null) {
      limit.put("starts", starts);
    }
    return server.perform(calls -> server.print(calls.put(path(name), limit), "set limit " + name));
  }

  @Command(name = "list", description = "Lists the limits with their use.")
  int list(@Mixin ServerCommand server) {
    return server.perform(calls -> {
      List<JsonNode> rows = new ArrayList<>();
      calls.get("/limits").path("limits").forEach(rows::add);
      server.printRows(rows, COLUMNS);
    });
  }

  @Command(
      name = "show",
      description =
          "Shows a limit with its use, its queues and job types, and the number of its nodes.")
  int show(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "NAME", description = "The name of the limit.") String name) {
    return server.perform(calls -> {
      JsonNode found = ServerCommand.lookUp(() -> calls.get(path(name)));
      if (server.json()) {
        out().println(found);
      } else {
        Fields.print(out(), found);
      }
    });
  }

  @Command(
      name = "delete",
      description = "Deletes limits. What names them is no longer limited by them.")
  int delete(
      @Mixin ServerCommand server,
      @Parameters(arity = "1..*", paramLabel = "NAME", description = "The names of limits.")
          List<String> names) {
    return server.run(
        calls -> server.each(names, name -> calls.delete(path(name)), _ -> "is deleted"));
  }
}
