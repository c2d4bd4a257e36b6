package io.millrace.graph.schedule;

import io.millrace.graph.Kind;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import java.util.Optional;

/** Stands for a type that this server does not have; an earlier one had. */
record UnknownType(String name) implements NodeType {
  @Override
  public Kind kind() {
    return Kind.WORK;
  }

  @Override
  public Attempt start(AttemptContext work) {
    throw new IllegalStateException("this server does not know the type \"" + name + "\" any more");
  }

  @Override
  public Optional<Attempt> resume(AttemptContext work) {
    return Optional.of(start(work));
  }
}
