package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Adds a node. */
@Command(
    name = "add",
    description = {
      "Adds a node and prints its id. A command is best written after --; no shell sees it. What"
          + " follows its first word belongs to it, so options come before."
    })
final class AddCommand extends GraphCommand {
  private static final String COMMAND = "command";

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      description = "Its type. Default: 'shell command' with --shell, and 'command' with a command")
  private @Nullable String type;

  @Option(
      names = "--command",
      paramLabel = "PROGRAM",
      description = "The program; then what follows the options are its arguments.")
  private @Nullable String program;

  @Option(
      names = {"-s", "--shell"},
      paramLabel = "SCRIPT",
      description = "What bash is to do.")
  private @Nullable String shell;

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "A program and its arguments.")
  private List<String> words = List.of();

  @Mixin private PlaceOptions place = new PlaceOptions();

  @Mixin private DataOptions data = new DataOptions();

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until it has ended or is blocked, and exits by how it did.")
  private boolean wait;

  AddCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws InterruptedException {
    JsonNode added = new GraphCalls(calls).add(form()).path(0);
    String id = added.path("id").asString();
    print(added, id);
    out().flush();
    if (!wait) {
      return ExitCode.OK;
    }
    var ends = NodeWaiter.Ends.settled(false, true);
    return new NodeWaiter(calls, terminal(), ends).until(List.of(id));
  }

  private ArrayNode form() {
    ArrayNode nodes = JsonNodeFactory.instance.arrayNode();
    ObjectNode node = nodes.addObject();
    ObjectNode metadata = node.putObject("metadata");
    ObjectNode values = node.putObject("data");
    String named = addWork(values);
    metadata.put("type", named);
    place.addTo(metadata);
    data.addTo(values, terminal());
    return nodes;
  }

  /** Adds what is to be run to the data, and says which type of node does that. */
  private String addWork(ObjectNode values) {
    if (shell != null && (program != null || !words.isEmpty())) {
      throw new UsageException("a node has a command or --shell, not both");
    }
    if (shell != null) {
      String of = type == null ? "shell command" : type;
      // Other types tell a script from a program by its key.
      values.put(of.equals("shell command") ? COMMAND : "shell", shell);
      return of;
    }
    if (program == null && words.isEmpty()) {
      if (type == null) {
        throw new UsageException("say what it is to do: a command, --shell or --type");
      }
      return type;
    }
    values.put(COMMAND, program == null ? words.getFirst() : program);
    List<String> args = program == null ? words.subList(1, words.size()) : words;
    if (!args.isEmpty()) {
      ArrayNode list = values.putArray("args");
      args.forEach(list::add);
    }
    return type == null ? COMMAND : type;
  }
}
