package io.millrace.cli.jobs;

import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Waits for jobs. */
@Command(name = "wait", description = "Waits until jobs have ended, and exits by how they did.")
final class WaitCommand extends JobCommand {
  @Mixin private KeyArguments jobs = new KeyArguments();

  @Mixin private Waiter.Options options = new Waiter.Options();

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no ends.")
  private boolean quiet;

  WaitCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException, InterruptedException {
    List<String> keys = jobs.read(terminal()).stream().distinct().toList();
    return new JobWaiter(calls, terminal(), options, json(), quiet).until(keys);
  }
}
