package io.millrace.graph.type;

import io.millrace.graph.Kind;
import java.util.Optional;

/** Nodes that hold others together. The graph starts and ends them itself. */
final class GroupType implements NodeType {
  @Override
  public String name() {
    return "group";
  }

  @Override
  public Kind kind() {
    return Kind.GROUP;
  }

  @Override
  public Attempt start(AttemptContext context) {
    throw new IllegalStateException("a group does nothing itself");
  }

  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return Optional.empty();
  }
}
