package io.millrace.cli.queues;

import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.queues.runner.RunnerProgram;
import java.nio.file.Path;
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
  public Integer call() throws InterruptedException {
    RunnerProgram.run(
        socket,
        folder,
        server.location().arguments(),
        arguments -> new RunnerServer(ServerAddress.read(arguments).location()));
    return ExitCode.OK;
  }
}
