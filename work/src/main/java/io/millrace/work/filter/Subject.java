package io.millrace.work.filter;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What a filter is applied to: an object with named fields. */
@FunctionalInterface
public interface Subject {
  /** The value of a top-level field; null if it is absent. */
  @Nullable JsonNode field(String name);

  /** A JSON object. */
  static Subject of(ObjectNode object) {
    return object::get;
  }
}
