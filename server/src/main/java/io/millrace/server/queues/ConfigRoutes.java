package io.millrace.server.queues;

import io.millrace.queues.ConfigRegistry;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The stored configuration of nodes: for all, or for the one that the parameter {@code node} names.
 */
final class ConfigRoutes {
  private static final String NODE = "node";

  private final ConfigRegistry config;

  ConfigRoutes(ConfigRegistry config) {
    this.config = config;
  }

  void mount(Mount mount) {
    mount.add(HttpMethod.GET, "/config", (asked, input) -> show(asked, input));
    mount.add(HttpMethod.POST, "/config", (asked, input) -> change(asked, input));
  }

  private Reply show(Mount.Asked asked, Input input) {
    return Form.ok(config.fields(scope(asked, input)));
  }

  private Reply change(Mount.Asked asked, Input input) {
    ObjectNode changes = input.all().deepCopy();
    changes.remove(NODE);
    if (changes.isEmpty()) {
      throw Refusal.of("no params");
    }
    for (String name : changes.propertyNames()) {
      JsonNode value = changes.required(name);
      if (input.isUnset(value)) {
        changes.putNull(name);
      }
      if (name.endsWith("_bytes") && value.isString() && value.asString().matches("[0-9]{1,18}")) {
        changes.put(name, Long.parseLong(value.asString()));
      }
    }
    return Form.ok(config.set(scope(asked, input), changes));
  }

  private static String scope(Mount.Asked asked, Input input) {
    String node = input.text(NODE);
    return node.isEmpty() ? asked.request().query().text(NODE).orElse(ConfigRegistry.ALL) : node;
  }
}
