package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Waits for tasks. */
@Command(name = "wait", description = "Waits until tasks have ended, and exits by how they did.")
final class WaitCommand extends RemoteCommand {
  @Mixin private IdArguments tasks = new IdArguments();

  @Mixin private Waiter.Options options = new Waiter.Options();

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no results.")
  private boolean quiet;

  WaitCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException, InterruptedException {
    TaskIds ids = new TaskIds();
    tasks.read(terminal()).stream().distinct().forEach(ids::add);
    return new TaskWaiter(calls, terminal(), options, json(), quiet).until(ids);
  }
}
