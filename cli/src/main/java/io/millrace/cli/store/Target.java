package io.millrace.cli.store;

import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which store a command is about: one behind a server, or one in a folder. */
final class Target {
  @Mixin private ServerAddress address = new ServerAddress();

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description = "Instead of a server: the folder of a store that no server has open.")
  private @Nullable Path data;

  /** The folder named; null when it is a server that is meant. */
  @Nullable Path folder() {
    if (data != null && address.isGiven()) {
      throw new UsageException(
          "--data names a folder: --server, --token-file and --certificates do not fit");
    }
    return data;
  }

  /** How to reach the server. */
  ClientOptions client() {
    return address.client();
  }

  /**
   * Opens the store.
   *
   * @param create whether a folder that is not there is made
   */
  TaskStore open(boolean create) {
    Path folder = folder();
    if (folder == null) {
      return HttpTaskStore.open(client());
    }
    if (!create && !Files.isDirectory(folder)) {
      throw new CommandException(ExitCode.FAILURE, "there is no folder " + folder);
    }
    return TaskStore.open(StoreOptions.in(folder));
  }
}
