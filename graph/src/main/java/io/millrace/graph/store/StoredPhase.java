package io.millrace.graph.store;

import io.millrace.graph.Branch;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What has happened to a node, as it is stored. */
final class StoredPhase {
  private StoredPhase() {}

  static void write(Phase phase, ObjectNode json) {
    if (phase.attempt() > 0) {
      json.put("attempt", phase.attempt());
    }
    switch (phase) {
      case Phase.Waiting waiting -> putTime(json, "notBefore", waiting.notBeforeMillis());
      case Phase.Running running -> {
        json.put("state", NodeState.RUNNING.word());
        json.put("started", running.startedMillis());
        if (running.killing()) {
          json.put("killing", true);
        }
      }
      case Phase.Ended ended -> {
        json.put("state", ended.state().word());
        if (!ended.reason().isEmpty()) {
          json.put("reason", ended.reason());
        }
        if (ended.taken() != null) {
          json.put("taken", StoredNode.word(ended.taken()));
        }
        putTime(json, "started", ended.startedMillis());
        json.put("ended", ended.endedMillis());
      }
    }
  }

  /** Leaves it out where it is 0. */
  private static void putTime(ObjectNode json, String field, long millis) {
    if (millis != 0) {
      json.put(field, millis);
    }
  }

  static Phase read(ObjectNode json) {
    int attempt = json.path("attempt").asInt(0);
    JsonNode state = json.get("state");
    if (state == null) {
      return new Phase.Waiting(attempt, json.path("notBefore").asLong(0));
    }
    NodeState known = StoredNode.constant(NodeState.class, state);
    long started = json.path("started").asLong(0);
    if (known == NodeState.RUNNING) {
      return new Phase.Running(attempt, started, json.path("killing").asBoolean(false));
    }
    Branch taken =
        json.has("taken") ? StoredNode.constant(Branch.class, json.required("taken")) : null;
    String reason = json.path("reason").asString("");
    return new Phase.Ended(attempt, known, reason, taken, started, json.required("ended").asLong());
  }
}
