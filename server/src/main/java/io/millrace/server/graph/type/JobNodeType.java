package io.millrace.server.graph.type;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.Inputs;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.RunPolicy;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Nodes of the type {@code job}: a job for a worker, whose result is the node's. */
public final class JobNodeType implements NodeType {
  private final GraphJobs jobs;

  /** Of these jobs. */
  public JobNodeType(GraphJobs jobs) {
    this.jobs = jobs;
  }

  @Override
  public String name() {
    return "job";
  }

  @Override
  public Kind kind() {
    return Kind.WORK;
  }

  @Override
  public Set<String> inputs() {
    return RunPolicy.keysWith("job_type", "payload", "description", "priority");
  }

  @Override
  public Set<String> outputs() {
    return Set.of("job", "result");
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {
    Submission submission = submission(inputs, "graph-1-1");
    RunPolicy.of(inputs);
    List<String> types = jobs.jobs().types().all().stream().map(JobType::name).toList();
    String type = submission.type();
    if (types.isEmpty() && !type.isEmpty()) {
      throw new InvalidGraphException("job_type is given, and this server has no types of jobs");
    }
    if (!types.isEmpty() && !types.contains(type)) {
      throw new InvalidGraphException(
          "job_type must be one of " + String.join(", ", types) + ", not \"" + type + "\"");
    }
  }

  private static Submission submission(Map<String, JsonNode> values, String key) {
    Inputs inputs = new Inputs(values);
    String priority = inputs.optionalText("priority").orElse(Priority.BATCH.word());
    try {
      return new Submission(
          inputs.optionalText("job_type").orElse(""),
          Priority.named(priority)
              .orElseThrow(() ->
                  new InvalidGraphException(
                      "priority must be immediate or batch, not " + priority)),
          key,
          inputs.optionalText("description").orElse(null));
    } catch (InvalidJobException e) {
      throw new InvalidGraphException(String.valueOf(e.getMessage()));
    }
  }

  /** A text as it is, anything else as JSON. */
  private static String payload(Map<String, JsonNode> inputs) {
    JsonNode payload = inputs.get("payload");
    return payload == null ? "" : payload.isString() ? payload.asString() : payload.toString();
  }

  @Override
  public Attempt start(AttemptContext context) {
    String key = "graph-" + context.id() + "-" + context.attempt();
    Submission submission = submission(context.inputs(), key);
    return JobAttempt.begin(jobs, new JobAttempt.Order(key, submission, payload(context.inputs())));
  }

  /** The same: what was handed on before is found by its key. */
  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return Optional.of(start(context));
  }
}
