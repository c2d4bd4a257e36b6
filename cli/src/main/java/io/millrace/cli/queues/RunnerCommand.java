package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.HttpBlobStore;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.runner.RunnerProgram;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The process of a task runner, which a node starts. */
@Command(
    name = "runner",
    hidden = true,
    description = "A task runner, as an execution node starts it.")
public final class RunnerCommand implements Callable<Integer> {
  /** Short, since a runner tries again by itself as long as it must. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  @Option(names = "--server", paramLabel = "URL", required = true, description = "The server.")
  private String server = "";

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with the token that the server wants.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--socket",
      paramLabel = "PATH",
      required = true,
      description = "Where the node listens.")
  private Path socket = Path.of("");

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      required = true,
      description = "The folder that the node made for this runner.")
  private Path folder = Path.of("");

  /** To be filled from the command line. */
  public RunnerCommand() {}

  @Override
  public Integer call() throws InterruptedException, IOException {
    URI address;
    ClientOptions options;
    @Nullable String token = tokenFile == null ? null : token(tokenFile);
    try {
      address = URI.create(server);
      options = ClientOptions.at(address).withRetryFor(RETRY).withToken(token);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
    try (HttpTaskStore store = HttpTaskStore.open(options)) {
      RunnerProgram.run(socket, folder, store, () -> blobs(address, token));
    }
    return ExitCode.OK;
  }

  private static BlobStore blobs(URI address, @Nullable String token) {
    return token == null ? HttpBlobStore.at(address) : HttpBlobStore.at(address, token);
  }

  private static String token(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
  }
}
