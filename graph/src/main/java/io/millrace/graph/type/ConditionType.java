package io.millrace.graph.type;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.type.Programs.ProcessAttempt;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;

/**
 * Nodes that choose which of their children run: by a program, whose exit code 0 means then and 1
 * means else, or by whether a file exists.
 */
record ConditionType(Programs programs) implements NodeType {
  static final String NAME = "condition";

  private static final String FILE = "file";
  private static final List<String> ONE_OF = List.of(ProgramForm.COMMAND, ProgramForm.SHELL, FILE);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Kind kind() {
    return Kind.CONDITION;
  }

  @Override
  public Set<String> inputs() {
    return ProgramForm.keysWith(FILE);
  }

  @Override
  public Set<String> outputs() {
    return ProcessAttempt.OUTPUTS;
  }

  @Override
  public void check(Map<String, JsonNode> values) {
    Inputs inputs = new Inputs(values);
    inputs.onlyWith(ProgramForm.ARGS, ProgramForm.COMMAND);
    if (inputs.only(ONE_OF).equals(FILE)) {
      ProgramForm.absolute(FILE, inputs.text(FILE));
    } else {
      ProgramForm.either(inputs);
    }
    RunPolicy.of(values);
  }

  @Override
  public boolean takesPlace() {
    return true;
  }

  @Override
  public Attempt start(AttemptContext context) {
    Inputs inputs = new Inputs(context.inputs());
    if (inputs.has(FILE)) {
      boolean there = Files.exists(ProgramForm.absolute(FILE, inputs.text(FILE)));
      return Attempt.ended(new Attempt.Ending(null, there ? Branch.THEN : Branch.ELSE, Map.of()));
    }
    return programs.start(context, ProgramForm.either(inputs), ConditionType::ending);
  }

  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return new Inputs(context.inputs()).has(FILE)
        ? Optional.of(start(context))
        : programs.resume(context, ConditionType::ending);
  }

  private static Attempt.Ending ending(int code) {
    Map<String, JsonNode> values = Map.of(ProcessAttempt.RESULT, IntNode.valueOf(code));
    return switch (code) {
      case 0 -> new Attempt.Ending(null, Branch.THEN, values);
      case 1 -> new Attempt.Ending(null, Branch.ELSE, values);
      default -> {
        String reason = CommandType.failure(code) + ", neither 0 nor 1";
        yield new Attempt.Ending(Attempt.Failure.of(reason, Integer.toString(code)), null, values);
      }
    };
  }
}
