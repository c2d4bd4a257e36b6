package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.NewFile;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.UnreachableException;
import io.millrace.processes.PrivateFiles;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.files.SnapshotInput;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Saves a backup of a store to a file. */
@Command(
    name = "backup",
    description =
        "Saves the whole store, as it is at one moment, to a file; a server continues to work"
            + " meanwhile. The file is checked, and appears only when it is complete. Blobs and the"
            + " archive are not in it; see docs/operations.md.")
final class BackupCommand extends TerminalUser implements Callable<Integer> {
  /** Much longer than a server needs between two parts of a backup. */
  private static final Duration LONGEST_SILENCE = Duration.ofMinutes(10);

  @Parameters(paramLabel = "FILE", arity = "0..1", description = "The file to write.")
  private @Nullable String name;

  @Option(names = "--to", paramLabel = "FILE", description = "The same as FILE.")
  private @Nullable String to;

  @Option(names = "--force", description = "Replaces the file if there is one.")
  private boolean force;

  @Mixin private StoreTarget target = new StoreTarget();
  @Mixin private KeptStore.From from = new KeptStore.From();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path file = KeptStore.file(name, "--to", to);
    KeptStore kept = from.store(target.folder(), target.isServerGiven());
    long commits =
        write(
            file,
            force,
            unfinished -> {
              if (kept == null) {
                fetch(target.client(), unfinished);
              } else {
                save(kept, unfinished);
              }
            });
    out().println("saved " + commits + " commits, " + Files.size(file) + " bytes, in " + file);
    return ExitCode.OK;
  }

  /** Writes the content of a backup to a new file. */
  interface Source {
    void writeTo(Path unfinished) throws IOException, InterruptedException;
  }

  /**
   * Writes a backup. The file gets its name when it is complete and durable.
   *
   * @return the number of commits in it
   */
  static long write(Path file, boolean force, Source source)
      throws IOException, InterruptedException {
    if (!force && Files.exists(file)) {
      throw new CommandException(ExitCode.FAILURE, file + " exists; --force replaces it");
    }
    long commits =
        NewFile.at(file)
            .create(unfinished -> {
              source.writeTo(unfinished);
              return check(unfinished);
            });
    Path parent = Objects.requireNonNull(file.toRealPath().getParent());
    try (Folder folder = Environment.system().disk().open(parent)) {
      folder.sync();
    }
    return commits;
  }

  /** Saves a store that is kept here; a server may lead it. */
  static void save(KeptStore kept, Path unfinished) throws IOException {
    try (OutputStream out = new BufferedOutputStream(PrivateFiles.newOutputStream(unfinished))) {
      TaskStore.backup(kept.source(), out);
    }
  }

  private static void fetch(ClientOptions options, Path unfinished) throws IOException {
    try (JsonCalls server = JsonCalls.open(options);
        InputStream body = server.stream("/store/backup", LONGEST_SILENCE);
        OutputStream out = PrivateFiles.newOutputStream(unfinished)) {
      body.transferTo(out);
    } catch (UnreachableException e) {
      throw new CommandException(ExitCode.FAILURE, String.valueOf(e.getMessage()), e);
    } catch (StoreException e) {
      throw new CommandException(
          ExitCode.FAILURE, options.server() + " gives no backup: " + e.getMessage(), e);
    }
  }

  /** Reads the whole backup, makes it durable and returns the number of commits in it. */
  private static long check(Path unfinished) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(unfinished), 1 << 20)) {
      SnapshotInput snapshot = new SnapshotInput(in, "the backup");
      snapshot.readToEnd();
      try (FileChannel channel = FileChannel.open(unfinished, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      return snapshot.frame().position();
    }
  }
}
