package io.millrace.graph.store;

import io.millrace.graph.Kill;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** How a node is to be ended, as it is stored. */
final class StoredKill {
  private StoredKill() {}

  static ObjectNode write(Kill kill) {
    ObjectNode json = Json.object();
    json.put("signal", kill.signal());
    json.put("graceMillis", kill.grace().toMillis());
    return json;
  }

  static Kill read(JsonNode json) {
    return new Kill(
        json.required("signal").asString(),
        Duration.ofMillis(json.required("graceMillis").asLong()));
  }
}
