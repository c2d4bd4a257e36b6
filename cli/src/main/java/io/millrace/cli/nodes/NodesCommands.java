package io.millrace.cli.nodes;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.Map;
import picocli.CommandLine;

/** The commands on execution nodes and on what is configured for them. */
public final class NodesCommands {
  static final String PATH = "/dci/nodes";

  private NodesCommands() {}

  /** {@code nodes}, with all that belongs to it. */
  public static CommandLine nodes(Terminal terminal) {
    CommandLine nodes =
        CommandGroup.of("nodes", "Lists and removes execution nodes and sets their limits.");
    CommandGroup.add(nodes, new NodeListCommand(terminal), Map.of());
    CommandGroup.add(nodes, new NodeSetCommand(terminal), Map.of());
    CommandGroup.add(nodes, new NodeRemoveCommand(terminal), Map.of());
    return nodes;
  }

  /** {@code config}, with all that belongs to it. */
  public static CommandLine config(Terminal terminal) {
    CommandLine config =
        CommandGroup.of("config", "Shows and sets what is configured for execution nodes.");
    CommandGroup.add(config, new ConfigShowCommand(terminal), Map.of());
    CommandGroup.add(config, new ConfigSetCommand(terminal), Map.of());
    return config;
  }
}
