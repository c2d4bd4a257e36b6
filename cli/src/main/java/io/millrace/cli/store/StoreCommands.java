package io.millrace.cli.store;

import io.millrace.cli.remote.CommandGroup;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The commands on a store, under one name. */
@Command(
    name = "store",
    description =
        "Reads, changes, saves and checks a store: that of a server, or one in a folder with"
            + " --data.")
public final class StoreCommands extends CommandGroup {
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

  /** The group without its commands. */
  public StoreCommands() {}

  /** With all that belongs to it. */
  public CommandLine group() {
    CommandLine store = with();
    explain(store, EXIT_CODES);
    add(
        store,
        EXIT_CODES,
        new ReadCommands.ListGroups(),
        new ReadCommands.ListTasks(),
        new ReadCommands.GetTasks(),
        new ChangeCommands.AddTask(),
        new ChangeCommands.ClaimTasks(),
        new ChangeCommands.UpdateTask(),
        new ChangeCommands.DeleteTasks(),
        new WatchCommand(),
        new ReadCommands.ListDocuments(),
        new ReadCommands.ShowDocument(),
        new BackupCommand(),
        new FolderCommands.Restore(),
        new FolderCommands.Verify(),
        new FolderCommands.Salvage());
    return store;
  }
}
