package io.millrace.cli.graph;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;

/** The commands on graphs, under one name. */
public final class GraphCommands {
  private static final Map<String, String> ENDS =
      Map.of(
          "6", "a node failed, was killed or is blocked",
          "7", "--timeout was over before all had ended");

  private GraphCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine graph =
        CommandGroup.of(
            "graph", "Runs graphs of commands: adds, shows, watches and changes nodes.");
    List.of(
            new RunCommand(terminal),
            new AddCommand(terminal),
            new WaitCommand(terminal),
            new WatchCommand(terminal),
            new OutputCommand(terminal))
        .forEach(command -> CommandGroup.add(graph, command, ENDS));
    List.of(
            new ShowCommand(terminal),
            new KillCommand(terminal),
            new OperateCommand.Retry(terminal),
            new OperateCommand.Move(terminal),
            new OperateCommand.SetData(terminal),
            new OperateCommand.Remove(terminal),
            new ExportCommand(terminal),
            new ImportCommand(terminal))
        .forEach(command -> CommandGroup.add(graph, command, Map.of()));
    // What follows the first word of a command to add belongs to that command.
    Objects.requireNonNull(graph.getSubcommands().get("add")).setStopAtPositional(true);
    return graph;
  }
}
