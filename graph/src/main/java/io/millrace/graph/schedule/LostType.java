package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.Kind;
import io.millrace.graph.NodeType;
import io.millrace.graph.Work;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Stands for a type that this server does not have; an earlier one had. */
record LostType(String name) implements NodeType {
  @Override
  public Kind kind() {
    return Kind.WORK;
  }

  @Override
  public Set<String> inputs() {
    return Set.of();
  }

  @Override
  public Set<String> outputs() {
    return Set.of();
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {}

  @Override
  public boolean takesPlace() {
    return false;
  }

  @Override
  public Attempt start(Work work) {
    throw new IllegalStateException("this server does not know the type \"" + name + "\" any more");
  }

  @Override
  public Optional<Attempt> resume(Work work) {
    return Optional.of(start(work));
  }
}
