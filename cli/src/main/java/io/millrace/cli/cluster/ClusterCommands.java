package io.millrace.cli.cluster;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Terminal;
import java.util.Map;
import picocli.CommandLine;

/** The commands that look at a cluster. */
public final class ClusterCommands {
  private ClusterCommands() {}

  /** All of them, under {@code cluster}. */
  public static CommandLine on(Terminal terminal) {
    CommandLine group =
        CommandGroup.of(
            "cluster",
            "Shows a cluster as its documents tell: leader, members, locks, partitions.");
    CommandGroup.add(group, new StatusCommand(terminal), Map.of());
    CommandGroup.add(group, new MembersCommand(terminal), Map.of());
    CommandGroup.add(group, new LocksCommand(terminal), Map.of());
    CommandGroup.add(group, new PartitionsCommand(terminal), Map.of());
    CommandGroup.add(group, new WatchCommand(terminal), Map.of());
    return group;
  }
}
