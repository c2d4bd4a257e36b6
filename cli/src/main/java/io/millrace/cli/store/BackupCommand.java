package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.ClientOptions;
import io.millrace.processes.PrivateFiles;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.files.SnapshotInput;
import io.millrace.wire.Answers;
import io.millrace.wire.WireException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Saves a store to a file. */
@Command(
    name = "backup",
    description =
        "Saves the whole store, as it is at one moment, to a file; a server goes on meanwhile. The"
            + " file is checked, and appears only when it is complete.")
final class BackupCommand implements Callable<Integer> {
  private final Terminal terminal;

  @Parameters(paramLabel = "FILE", description = "The file to write.")
  private Path file = Path.of("");

  @Option(names = "--force", description = "Replaces the file if there is one.")
  private boolean force;

  @Mixin private TargetCommand.Target target = new TargetCommand.Target();

  BackupCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    @Nullable Path folder = target.folder();
    long commits =
        write(
            file,
            force,
            unfinished -> {
              if (folder == null) {
                fetch(target.client(), unfinished);
              } else {
                save(folder, unfinished);
              }
            });
    terminal
        .out()
        .println("saved " + commits + " commits, " + Files.size(file) + " bytes, in " + file);
    return ExitCode.OK;
  }

  /** Writes the content of a backup to a file that is not there yet. */
  interface Source {
    void writeTo(Path unfinished) throws IOException, InterruptedException;
  }

  /**
   * Writes a backup, which gets its name once it is whole and durable.
   *
   * @return the number of commits in it
   */
  static long write(Path file, boolean force, Source source)
      throws IOException, InterruptedException {
    if (!force && Files.exists(file)) {
      throw new CommandException(ExitCode.FAILURE, file + " exists; --force replaces it");
    }
    Path unfinished = file.resolveSibling(file.getFileName() + ".unfinished");
    try {
      source.writeTo(unfinished);
      long commits = check(unfinished);
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      Path around = Objects.requireNonNull(file.toAbsolutePath().getParent());
      try (Folder folder = Environment.system().disk().open(around)) {
        folder.sync();
      }
      return commits;
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private static void save(Path folder, Path unfinished) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new CommandException(ExitCode.FAILURE, "there is no folder " + folder);
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder));
        OutputStream out = new BufferedOutputStream(PrivateFiles.newOutputStream(unfinished))) {
      store.backup(out);
    }
  }

  private static void fetch(ClientOptions options, Path unfinished)
      throws IOException, InterruptedException {
    String server = options.server().toString().replaceAll("/+$", "");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + "/store/backup"));
    if (options.token() != null) {
      request.header("Authorization", "Bearer " + options.token());
    }
    try (HttpClient client =
            HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(options.timeouts().connect())
                .sslContext(options.tls())
                .build();
        InputStream body = body(client, request.build(), server);
        OutputStream out = PrivateFiles.newOutputStream(unfinished)) {
      body.transferTo(out);
    }
  }

  private static InputStream body(HttpClient client, HttpRequest request, String server)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> answer;
    try {
      answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILURE, "cannot reach " + server + ": " + e, e);
    }
    if (answer.statusCode() == 200) {
      return answer.body();
    }
    try (InputStream body = answer.body()) {
      throw new CommandException(
          ExitCode.FAILURE, server + " gives no backup: " + Answers.readError(body.readAllBytes()));
    } catch (WireException e) {
      throw new CommandException(
          ExitCode.FAILURE, server + " gives no backup: status " + answer.statusCode(), e);
    }
  }

  /** Reads it all, makes it durable and says how many commits it holds. */
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
