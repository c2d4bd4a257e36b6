package io.millrace.cli.graph;

import io.millrace.cli.graph.view.State;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which nodes somebody wants to see, as options. */
final class FilterOptions {
  @Option(
      names = {"-b", "--below"},
      paramLabel = "ID",
      description = "Only this node and what is below it.")
  private @Nullable String below;

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      split = ",",
      description = "Only of this type; may come several times.")
  private List<String> types = List.of();

  @Option(
      names = {"-S", "--state"},
      paramLabel = "STATE",
      split = ",",
      description =
          "Only in this state: incipient, ready, running, finished, failed, killed, skipped or"
              + " blocked; may come several times.")
  private List<String> states = List.of();

  /**
   * The parameters of the API, joined by {@code &}; empty where nothing was asked for.
   *
   * @throws UsageException when one makes no sense
   */
  String query() {
    List<String> parameters = new ArrayList<>();
    if (below != null) {
      parameters.add("below=" + NodeArguments.parent(below));
    }
    types.forEach(type -> parameters.add("type=" + JsonCalls.part(type)));
    for (String state : states) {
      if (State.of(state) == State.UNKNOWN) {
        String known =
            Arrays.stream(State.values())
                .filter(one -> one != State.UNKNOWN)
                .map(State::word)
                .collect(Collectors.joining(", "));
        throw new UsageException("--state is one of " + known + ", not '" + state + "'");
      }
      parameters.add("state=" + state);
    }
    return String.join("&", parameters);
  }

  /** Whether anything was asked for. */
  boolean isGiven() {
    return below != null || !types.isEmpty() || !states.isEmpty();
  }
}
