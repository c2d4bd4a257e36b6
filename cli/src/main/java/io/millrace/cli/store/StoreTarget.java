package io.millrace.cli.store;

import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.StaleOption;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.wire.DataForm;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for the store of a command: that of a server, or one in a folder. */
class StoreTarget extends TerminalUser {
  @Mixin private ServerAddress address = new ServerAddress();

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description =
          "Opens the store in this folder instead of connecting to a server; no server may have"
              + " it open.")
  private @Nullable Path data;

  /** The folder; null for the store of a server. */
  @Nullable Path folder() {
    if (data != null && address.isGiven()) {
      throw new UsageException(
          "--data cannot be combined with --server, --token-file or --certificates");
    }
    return data;
  }

  /** Whether a server is named on the command line. */
  boolean isServerGiven() {
    return address.isGiven();
  }

  /** The options to connect to the server. */
  ClientOptions client() {
    return address.client();
  }

  /**
   * Opens the store.
   *
   * @param create whether to create a missing folder
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

  /** The same, with {@code --json}; opens the store and prints answers. */
  static class Open extends StoreTarget {
    @Option(names = "--json", description = "Prints the JSON of the HTTP API.")
    private boolean json;

    /** What a command does with a store. */
    @FunctionalInterface
    interface Action {
      /** Returns the exit code. */
      int run(TaskStore store) throws IOException, InterruptedException;
    }

    /**
     * Opens the store and runs a command.
     *
     * @param create whether to create a missing folder
     * @return the exit code
     */
    int run(boolean create, Action action) {
      try (TaskStore store = open(create)) {
        int code = action.run(store);
        out().flush();
        return code;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandException(ExitCode.FAILURE, "interrupted", e);
      }
    }

    /** The same for a folder that must exist. */
    int run(Action action) {
      return run(false, action);
    }

    boolean json() {
      return json;
    }

    /** Prints a line of JSON. */
    void printJson(byte[] line) {
      out().writeBytes(line);
      out().println();
    }

    /** Prints the tasks of a read. */
    void print(List<Task> tasks, long nowMillis) {
      if (json) {
        Responses.writeTasks(out(), tasks, nowMillis, DataForm.TEXT);
        out().println();
      } else {
        Tasks.print(out(), tasks, nowMillis);
      }
    }

    /** Prints an answer and returns the exit code. */
    int print(Outcome outcome) {
      if (json) {
        printJson(Responses.write(outcome, DataForm.TEXT));
        return outcome instanceof Outcome.Done ? ExitCode.OK : ExitCode.REFUSED;
      }
      Outcome.Done done = outcome.done();
      if (!done.tasks().isEmpty()) {
        Tasks.print(out(), done.tasks(), done.timeMillis());
      }
      if (!done.documents().isEmpty()) {
        Tasks.Documents.print(out(), done.documents());
      }
      return ExitCode.OK;
    }
  }

  /** The same for commands that only read, with {@code --stale}. */
  static final class Reading extends Open {
    @Mixin private StaleOption stale = new StaleOption();

    @Override
    ClientOptions client() {
      return stale.of(super.client());
    }

    @Override
    @Nullable Path folder() {
      Path folder = super.folder();
      if (folder != null && stale.isGiven()) {
        throw new UsageException("--data cannot be combined with --stale");
      }
      return folder;
    }
  }
}
