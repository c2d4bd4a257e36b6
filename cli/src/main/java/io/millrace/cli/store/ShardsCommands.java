package io.millrace.cli.store;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code millrace shards}: who leads the shards of a store that several servers share. */
@Command(
    name = "shards",
    description =
        "Shows which servers lead the shards of a store that they share, and hands shards over.",
    addMethodSubcommands = false)
public final class ShardsCommands extends CommandGroup {
  private static final Fields.Columns COLUMNS =
      new Fields.Columns().fields("shard", "role").field("LEADER", "leader");

  /** The group with its commands. */
  public CommandLine group() {
    return with("list", "handOver");
  }

  @Command(
      name = "list",
      description =
          "Lists the shards: the role of the server that is asked, and the address of another one"
              + " that leads. The list is empty if the store has no shards.")
  int list(@Mixin ServerCommand server) {
    return server.perform(calls -> server.printRows(calls.get("/shards"), COLUMNS));
  }

  @Command(
      name = "hand-over",
      description =
          "Has the leader of a shard leave it to other servers, which any server can be asked for."
              + " If it leads fewer shards than they do afterwards, it soon asks for one again.")
  int handOver(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "SHARD", description = "The number of the shard, from 1.")
          int shard) {
    return server.perform(calls ->
        server.print(
            calls.post("/shards/" + shard + "/hand-over", ServerCommand.object()),
            "shard " + shard + " is being handed over"));
  }
}
