package io.millrace.server.graph.type;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.Inputs;
import io.millrace.graph.type.NodeType;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.server.graph.type.Tasks.TaskAttempt;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Commands that run on execution nodes, as tasks of a queue with the plugin {@code exec}. They have
 * the same data as commands on the server.
 *
 * @param local the type that runs such commands on the server
 * @param tasks the tasks of attempts
 * @param queue the name or id of the queue
 */
public record QueuedCommandType(NodeType local, Tasks tasks, String queue) implements NodeType {
  /** Runs a command there: passes on its input, and turns its exit code into the status. */
  private static final String SCRIPT =
      """
      export MILLRACE_TOKEN="$MILLRACE_GRAPH_TOKEN"
      input=$MILLRACE_GRAPH_STDIN
      unset MILLRACE_GRAPH_TOKEN MILLRACE_GRAPH_STDIN
      status=$MILLRACE_STATUS_FILE
      unset MILLRACE_STATUS_FILE
      printf %s "$input" | "$@"
      code=${PIPESTATUS[1]}
      printf %s "$((code + 1))" >"$status"
      exit "$code"
      """;

  /** The input is passed in a variable; the limit of Linux is 128 KiB with its name and its end. */
  private static final int MAX_STDIN_BYTES = (128 << 10) - "MILLRACE_GRAPH_STDIN=".length() - 1;

  private static final TaskAttempt.Meaning MEANING =
      new TaskAttempt.Meaning(QueuedCommandType::failure, QueuedCommandType::values);

  private static @Nullable Failure failure(QueueTask ended) {
    int status = ended.status();
    if (status == Status.SUCCEEDED) {
      return null;
    }
    String code = Integer.toString(status - 1);
    return Status.isFinished(status)
        ? Failure.of("exit code " + code, code)
        : QueueTaskType.failure(ended);
  }

  private static Map<String, JsonNode> values(QueueTask ended) {
    return Status.isFinished(ended.status())
        ? Map.of("result", IntNode.valueOf(ended.status() - 1))
        : Map.of();
  }

  @Override
  public String name() {
    return local.name();
  }

  @Override
  public Kind kind() {
    return local.kind();
  }

  @Override
  public Set<String> inputs() {
    return local.inputs();
  }

  @Override
  public Set<String> outputs() {
    return local.outputs();
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {
    local.check(inputs);
    int bytes = new Inputs(inputs).optionalText("stdin").orElse("").getBytes(UTF_8).length;
    if (bytes > MAX_STDIN_BYTES) {
      throw new InvalidGraphException(
          String.format(
              "stdin has %,d bytes; a command on execution nodes takes up to %,d",
              bytes, MAX_STDIN_BYTES));
    }
  }

  /** The queue limits how many run. */
  @Override
  public boolean takesPlace() {
    return false;
  }

  @Override
  public Attempt start(AttemptContext context) {
    TaskAttempt.Order order = new TaskAttempt.Order(queue, params(context), null, MEANING);
    return TaskAttempt.begin(
        tasks, tasks.id(context), order, EnumSet.allOf(Stream.class), Map.of());
  }

  private ObjectNode params(AttemptContext context) {
    Inputs inputs = new Inputs(context.inputs());
    ObjectNode params = JsonNodeFactory.instance.objectNode();
    params.put("command", "bash");
    params.put("mixed", true);
    ArrayNode args = params.putArray("args");
    List.of("-c", SCRIPT, "millrace").forEach(args::add);
    if (name().equals("command")) {
      args.add(inputs.text("command"));
      inputs.texts("args").forEach(args::add);
    } else {
      List.of("bash", "-c", "--", inputs.text("command")).forEach(args::add);
    }
    ObjectNode env = params.putObject("env");
    variables(context, inputs).forEach(env::put);
    inputs.optionalText("cwd").ifPresent(cwd -> params.put("cwd", cwd));
    return params;
  }

  private static Map<String, String> variables(AttemptContext context, Inputs inputs) {
    Map<String, String> variables = new LinkedHashMap<>(inputs.textByName("env"));
    variables.putAll(context.environment());
    variables.put("MILLRACE_NODE_ID", context.id().toString());
    variables.put("MILLRACE_ATTEMPT", Integer.toString(context.attempt()));
    // The runner has a variable MILLRACE_TOKEN of its own, with its fencing token.
    String token = variables.remove("MILLRACE_TOKEN");
    variables.put("MILLRACE_GRAPH_TOKEN", token == null ? "" : token);
    variables.put("MILLRACE_GRAPH_STDIN", inputs.optionalText("stdin").orElse(""));
    return variables;
  }
}
