package io.millrace.server.schedules;

import io.millrace.http.Caller.Reach.Area;
import io.millrace.schedules.Target;
import tools.jackson.databind.node.ObjectNode;

/** A target that says whose reach includes it. */
public interface LimitedTarget extends Target {
  /**
   * Where a description runs something.
   *
   * @param area what the name is the name of
   * @param name the name; empty for what has none
   */
  record Scope(Area area, String name) {}

  /** Where a description runs something. */
  Scope scope(ObjectNode description);

  /** Whether the reach of a caller includes what a description runs. */
  default boolean isInReach(io.millrace.http.Request request, ObjectNode description) {
    Scope scope = scope(description);
    return request.caller().reach().includes(scope.area(), scope.name());
  }
}
