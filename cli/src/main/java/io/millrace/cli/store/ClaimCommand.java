package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Claim;
import io.millrace.store.ClaimOrder;
import io.millrace.store.Outcome;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Claims tasks. */
@Command(
    name = "claim",
    description = "Claims waiting tasks and shows them; exits with 4 when there was none.")
final class ClaimCommand extends TargetCommand {
  @Parameters(
      paramLabel = "GROUP",
      arity = "1..*",
      description = "The groups to take from, tried in this order.")
  private List<String> groups = List.of();

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      defaultValue = "60s",
      converter = Durations.class,
      description = "How long they are the client's. Default: ${DEFAULT-VALUE}")
  private Duration lease = Duration.ZERO;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      defaultValue = "1",
      description = "The most tasks to take. Default: ${DEFAULT-VALUE}")
  private int count;

  @Option(
      names = "--order",
      defaultValue = "RANDOM",
      paramLabel = "ORDER",
      description = "Which tasks: random, oldest or newest. Default: random")
  private ClaimOrder order = ClaimOrder.RANDOM;

  @Option(
      names = "--while-fewer-than",
      paramLabel = "N",
      description =
          "Takes from a group only while fewer than N of its tasks are claimed; 0 is no limit.")
  private int limit;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "0s",
      converter = Durations.class,
      description = "How long to wait for a task where there is none. Default: ${DEFAULT-VALUE}")
  private Duration wait = Duration.ZERO;

  @Mixin private Client client = new Client();

  ClaimCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    Claim claim =
        Claim.of(client.owner(), groups.getFirst(), lease)
            .withGroups(groups)
            .withCount(count)
            .withOrder(order)
            .withLimit(limit)
            .withWait(wait);
    Outcome outcome = store.claim(claim);
    int code = print(outcome);
    return outcome instanceof Outcome.Done done && done.tasks().isEmpty() ? ExitCode.NOTHING : code;
  }
}
