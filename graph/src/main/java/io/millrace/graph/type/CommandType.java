package io.millrace.graph.type;

import io.millrace.graph.type.ProgramForm.Program;
import io.millrace.graph.type.Programs.ProcessAttempt;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;

/** Nodes that run a program: {@code command} and {@code shell command}. */
record CommandType(
    String name, Set<String> inputs, Function<Inputs, Program> form, Programs programs)
    implements NodeType {
  static final String COMMAND = "command";
  static final String SHELL = "shell command";

  /** Runs {@code command} with {@code args}. */
  static CommandType command(Programs programs) {
    Set<String> inputs =
        RunPolicy.keysWith(
            ProgramForm.COMMAND,
            ProgramForm.ARGS,
            ProgramForm.ENV,
            ProgramForm.CWD,
            ProgramForm.STDIN);
    return new CommandType(COMMAND, inputs, ProgramForm::command, programs);
  }

  /** Runs {@code command} in bash. */
  static CommandType shell(Programs programs) {
    Set<String> inputs =
        RunPolicy.keysWith(
            ProgramForm.COMMAND, ProgramForm.ENV, ProgramForm.CWD, ProgramForm.STDIN);
    return new CommandType(
        SHELL, inputs, values -> ProgramForm.shell(ProgramForm.COMMAND, values), programs);
  }

  @Override
  public Set<String> outputs() {
    return ProcessAttempt.OUTPUTS;
  }

  @Override
  public void check(Map<String, JsonNode> values) {
    var _ = form.apply(new Inputs(values));
    RunPolicy.of(values);
  }

  @Override
  public boolean takesPlace() {
    return true;
  }

  @Override
  public Attempt start(AttemptContext context) {
    return programs.start(context, form.apply(new Inputs(context.inputs())), CommandType::ending);
  }

  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return programs.resume(context, CommandType::ending);
  }

  private static Attempt.Ending ending(int code) {
    return new Attempt.Ending(
        code == 0 ? null : Attempt.Failure.of(failure(code), Integer.toString(code)),
        null,
        Map.of(ProcessAttempt.RESULT, IntNode.valueOf(code)));
  }

  /** Describes an exit code for people. */
  static String failure(int code) {
    return "exit code " + code;
  }
}
