package io.millrace.cli.store;

import io.millrace.cli.terminal.Terminal;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands on a store, under one name. */
@Command(
    name = "store",
    description =
        "Reads, changes, saves and checks a store: that of a server, or one in a folder with"
            + " --data.")
public final class StoreCommands implements Runnable {
  private static final Map<String, String> EXIT_CODES =
      Map.of(
          "0", "done",
          "1",
              "failed: for example the server cannot be reached, the token is wrong, the folder is"
                  + " in use, or the disk fails",
          "2", "the command line is wrong",
          "3", "refused by the store; nothing was changed",
          "4", "what was named does not exist, or nothing could be claimed",
          "5", "stored files are damaged");

  @Spec private CommandSpec spec = CommandSpec.create();

  private StoreCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine store = new CommandLine(new StoreCommands());
    store.addSubcommand(new ReadCommands.ListGroups(terminal));
    store.addSubcommand(new ReadCommands.ListTasks(terminal));
    store.addSubcommand(new ReadCommands.GetTasks(terminal));
    store.addSubcommand(new ChangeCommands.AddTask(terminal));
    store.addSubcommand(new ChangeCommands.ClaimTasks(terminal));
    store.addSubcommand(new ChangeCommands.UpdateTask(terminal));
    store.addSubcommand(new ChangeCommands.DeleteTasks(terminal));
    store.addSubcommand(new WatchCommand(terminal));
    store.addSubcommand(new ReadCommands.ListDocuments(terminal));
    store.addSubcommand(new ReadCommands.ShowDocument(terminal));
    store.addSubcommand(new BackupCommand(terminal));
    store.addSubcommand(new FolderCommands.Restore(terminal));
    store.addSubcommand(new FolderCommands.Verify(terminal));
    store.addSubcommand(new FolderCommands.Salvage(terminal));
    explainExitCodes(store);
    store.getSubcommands().values().forEach(StoreCommands::explainExitCodes);
    return store;
  }

  private static void explainExitCodes(CommandLine command) {
    command
        .getCommandSpec()
        .usageMessage()
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(new TreeMap<>(EXIT_CODES));
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
