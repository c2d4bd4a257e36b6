package io.millrace.cli.queues;

import io.millrace.blobs.HttpBlobStore;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.runner.RunnerProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of a task runner, which a node starts. */
@Command(
    name = "runner",
    hidden = true,
    description = "A task runner, as an execution node starts it.")
public final class RunnerCommand implements Callable<Integer> {
  /** Short, since a runner tries again by itself as long as it must. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  @Mixin private ServerAddress server = new ServerAddress();

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
    ClientOptions options = server.location().client(RETRY);
    try (HttpTaskStore store = HttpTaskStore.open(options)) {
      RunnerProgram.run(
          socket,
          folder,
          store,
          () -> HttpBlobStore.at(options.server(), options.token(), options.tls()));
    }
    return ExitCode.OK;
  }
}
