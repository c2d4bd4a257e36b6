package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which store a command is about: one behind a server, or one in a folder. */
final class Target {
  private static final String DEFAULT_SERVER = "http://127.0.0.1:8048";
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  @Option(
      names = "--server",
      paramLabel = "URL",
      description =
          "The server to ask. Default: the environment's MILLRACE_SERVER, or " + DEFAULT_SERVER)
  private @Nullable String server;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token that the server wants.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--certificates",
      paramLabel = "FILE",
      description =
          "Certificates (PEM) by which an https server proves itself. Default: those that Java"
              + " trusts")
  private @Nullable Path certificates;

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      description = "Instead of a server: the folder of a store that no server has open.")
  private @Nullable Path data;

  /** The folder named; null when it is a server that is meant. */
  @Nullable Path folder() {
    if (data != null && (server != null || tokenFile != null || certificates != null)) {
      throw new UsageException(
          "--data names a folder: --server, --token-file and --certificates do not fit");
    }
    return data;
  }

  /** How to reach the server. */
  ClientOptions client() {
    String address = server != null ? server : System.getenv("MILLRACE_SERVER");
    try {
      ClientOptions options =
          ClientOptions.at(
                  URI.create(address == null || address.isEmpty() ? DEFAULT_SERVER : address))
              .withRetryFor(PATIENCE)
              .withCertificates(certificates)
              .withToken(tokenFile == null ? null : token(tokenFile));
      // Asked for here, so that a wrong file is told as a wrong option.
      var _ = options.tls();
      return options;
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private static String token(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw new UsageException("cannot read the token file " + file + ": " + e, e);
    }
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
