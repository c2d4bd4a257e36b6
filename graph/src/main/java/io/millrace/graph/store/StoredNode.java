package io.millrace.graph.store;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import io.millrace.graph.model.Change;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Throttling.Limit;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Retention;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A node as it is stored: only facts, without what follows from them.
 *
 * @param facts its place, and what happened to it
 * @param kill how it is to be killed; null if it is not
 */
record StoredNode(Change.Added facts, @Nullable Kill kill) {

  static StoredNode of(GraphNode node, @Nullable Kill kill) {
    return new StoredNode(
        new Change.Added(
            node.id(), node.definition(), node.phase(), node.name(), node.createdMillis()),
        kill);
  }

  static StoredNode read(Document document) {
    return Json.read(document, json -> read(Keys.id(document.key()), json));
  }

  private static StoredNode read(NodeId id, ObjectNode json) {
    Definition definition =
        new Definition(
            json.required("type").asString(),
            json.has("kind") ? constant(Kind.class, json.required("kind")) : Kind.WORK,
            ids(json.path("parents")),
            ids(json.path("after")),
            json.has("branch") ? constant(Branch.class, json.required("branch")) : null,
            json.path("always").asBoolean(false),
            new Timing(
                json.path("at").asLong(0),
                json.path("delay").asLong(0),
                json.path("waitTimeout").asLong(0),
                json.path("totalTimeout").asLong(0),
                keep(json)),
            readLimits(json));
    String name = json.has("name") ? json.required("name").asString() : null;
    Kill kill = json.has("kill") ? readKill(json.required("kill")) : null;
    Phase phase = readPhase(json);
    return new StoredNode(
        new Change.Added(id, definition, phase, name, json.required("created").asLong()), kill);
  }

  Bytes write() {
    return Json.write(json());
  }

  ObjectNode json() {
    Definition definition = facts.definition();
    ObjectNode json = Json.object();
    json.put("type", definition.type());
    if (definition.kind() != Kind.WORK) {
      json.put("kind", word(definition.kind()));
    }
    if (facts.name() != null) {
      json.put("name", facts.name());
    }
    putIds(json, "parents", definition.parents());
    putIds(json, "after", definition.after());
    if (definition.branch() != null) {
      json.put("branch", definition.branch().word());
    }
    if (definition.always()) {
      json.put("always", true);
    }
    Timing timing = definition.timing();
    putNumber(json, "at", timing.atMillis());
    putNumber(json, "delay", timing.delayMillis());
    putNumber(json, "waitTimeout", timing.waitMillis());
    putNumber(json, "totalTimeout", timing.totalMillis());
    Duration age = timing.keep().age();
    if (age != null) {
      json.put("keep", age.toMillis());
    }
    if (timing.keep().count() != null) {
      json.put("keepCount", timing.keep().count());
    }
    putLimits(json, definition.limits());
    json.put("created", facts.createdMillis());
    writePhase(facts.phase(), json);
    if (kill != null) {
      json.set("kill", writeKill(kill));
    }
    return json;
  }

  private static Retention keep(ObjectNode json) {
    JsonNode age = json.get("keep");
    JsonNode count = json.get("keepCount");
    return age == null && count == null
        ? Retention.FOREVER
        : new Retention(
            age == null ? null : Duration.ofMillis(age.asLong()),
            count == null ? null : count.asLong());
  }

  private static List<NodeId> ids(JsonNode json) {
    List<NodeId> ids = new ArrayList<>(json.size());
    json.forEach(id -> ids.add(new NodeId(id.asLong())));
    return ids;
  }

  private static void putIds(ObjectNode json, String field, List<NodeId> ids) {
    if (!ids.isEmpty()) {
      ArrayNode array = json.putArray(field);
      ids.forEach(id -> array.add(id.value()));
    }
  }

  private static NodeLimits readLimits(JsonNode json) {
    if (!json.has("limits")) {
      return NodeLimits.NONE;
    }
    List<String> names = new ArrayList<>();
    json.required("limits").forEach(name -> names.add(name.asString()));
    String key = json.has("limitKey") ? json.required("limitKey").asString() : null;
    Limit perKey =
        new Limit(
            json.path("keyRunning").asInt(0),
            json.path("keyStarts").asInt(0),
            json.path("keyPeriod").asLong(0));
    return new NodeLimits(names, key, json.path("priority").asInt(0), perKey);
  }

  private static void putLimits(ObjectNode json, NodeLimits limits) {
    if (!limits.isNone()) {
      ArrayNode names = json.putArray("limits");
      limits.names().forEach(names::add);
      if (limits.key() != null) {
        json.put("limitKey", limits.key());
      }
      putNumber(json, "priority", limits.priority());
      putNumber(json, "keyRunning", limits.perKey().running());
      putNumber(json, "keyStarts", limits.perKey().starts());
      putNumber(json, "keyPeriod", limits.perKey().periodMillis());
    }
  }

  private static <E extends Enum<E>> E constant(Class<E> type, JsonNode word) {
    return Enum.valueOf(type, word.asString().toUpperCase(Locale.ROOT));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static void writePhase(Phase phase, ObjectNode json) {
    putNumber(json, "attempt", phase.attempts().number());
    putNumber(json, "interrupted", phase.attempts().interrupted());
    putNumber(json, "snoozed", phase.attempts().snoozed());
    if (!phase.attempts().ended().isEmpty()) {
      json.set("endedAttempts", EndedAttempt.write(phase.attempts().ended()));
    }
    switch (phase) {
      case Phase.Waiting waiting -> {
        putNumber(json, "notBefore", waiting.notBeforeMillis());
        putReason(json, waiting.reason());
        putNumber(json, "due", waiting.dueMillis());
      }
      case Phase.Running running -> {
        json.put("state", NodeState.RUNNING.word());
        json.put("started", running.startedMillis());
        if (running.killing()) {
          json.put("killing", true);
        }
        putNumber(json, "due", running.dueMillis());
      }
      case Phase.Ended ended -> {
        json.put("state", ended.state().word());
        putReason(json, ended.reason());
        if (ended.taken() != null) {
          json.put("taken", ended.taken().word());
        }
        putNumber(json, "started", ended.startedMillis());
        json.put("ended", ended.endedMillis());
      }
    }
  }

  /** Leaves out 0. */
  private static void putNumber(ObjectNode json, String field, long number) {
    if (number != 0) {
      json.put(field, number);
    }
  }

  private static void putReason(ObjectNode json, String reason) {
    if (!reason.isEmpty()) {
      json.put("reason", reason);
    }
  }

  private static Phase readPhase(ObjectNode json) {
    Phase.Attempts attempts =
        new Phase.Attempts(
            json.path("attempt").asInt(0),
            json.path("interrupted").asInt(0),
            json.path("snoozed").asInt(0),
            EndedAttempt.read(json.get("endedAttempts")));
    String reason = json.path("reason").asString("");
    long due = json.path("due").asLong(0);
    JsonNode state = json.get("state");
    if (state == null) {
      return new Phase.Waiting(attempts, json.path("notBefore").asLong(0), reason, due);
    }
    NodeState known = constant(NodeState.class, state);
    long started = json.path("started").asLong(0);
    if (known == NodeState.RUNNING) {
      return new Phase.Running(attempts, started, json.path("killing").asBoolean(false), due);
    }
    Branch taken = json.has("taken") ? constant(Branch.class, json.required("taken")) : null;
    return new Phase.Ended(
        attempts, known, reason, taken, started, json.required("ended").asLong());
  }

  private static ObjectNode writeKill(Kill kill) {
    ObjectNode json = Json.object();
    json.put("signal", kill.signal());
    json.put("graceMillis", kill.grace().toMillis());
    return json;
  }

  private static Kill readKill(JsonNode json) {
    return new Kill(
        json.required("signal").asString(),
        Duration.ofMillis(json.required("graceMillis").asLong()));
  }
}
