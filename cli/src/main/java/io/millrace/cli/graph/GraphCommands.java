package io.millrace.cli.graph;

import io.millrace.cli.remote.CommandGroup;
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
  public static CommandLine group() {
    CommandLine graph =
        CommandGroup.of(
            "graph", "Runs graphs of commands: adds, shows, watches and changes nodes.");
    CommandGroup.add(
        graph,
        ENDS,
        new RunCommand(),
        new AddCommand(),
        new WaitCommand(),
        new WatchCommand(),
        new OutputCommand());
    CommandGroup.add(
        graph,
        Map.of(),
        new ShowCommand(),
        new KillCommand(),
        new OperateCommand.Retry(),
        new OperateCommand.Move(),
        new OperateCommand.SetData(),
        new OperateCommand.Remove(),
        new ExportCommand(),
        new ImportCommand());
    // What follows the first word of a command to add belongs to that command.
    Objects.requireNonNull(graph.getSubcommands().get("add")).setStopAtPositional(true);
    return graph;
  }
}
