package io.millrace.graph;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.graph.type.RunPolicy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** A type that does nothing: tests start and end its nodes themselves. */
public record TestType(String name, Kind kind) implements NodeType {
  /** {@code command}, {@code condition} and {@code group}. */
  public static final NodeTypes ALL =
      new NodeTypes(
          List.of(
              new TestType("command", Kind.WORK),
              new TestType("condition", Kind.CONDITION),
              new TestType("group", Kind.GROUP)));

  @Override
  public Set<String> inputs() {
    return kind == Kind.GROUP
        ? RunPolicy.OF_RETENTION
        : RunPolicy.keysWith("command", "args", "stdin");
  }

  @Override
  public Set<String> outputs() {
    return kind == Kind.GROUP ? Set.of() : Set.of("result", "stdout");
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {
    JsonNode command = inputs.get("command");
    if (command != null && !command.isString()) {
      throw new InvalidGraphException("\"command\" is a text");
    }
  }

  @Override
  public boolean takesPlace() {
    return kind == Kind.WORK;
  }

  @Override
  public Attempt start(AttemptContext work) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Optional<Attempt> resume(AttemptContext work) {
    throw new UnsupportedOperationException();
  }
}
