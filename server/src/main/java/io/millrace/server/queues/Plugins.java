package io.millrace.server.queues;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Queues;
import io.millrace.queues.plugin.PluginFolder;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Which plugins may be used for queues: built in, configured, or announced by a node. */
final class Plugins {
  private final Queues queues;

  Plugins(Queues queues) {
    this.queues = queues;
  }

  /** Their names, in order. */
  Set<String> names() {
    Set<String> names = new TreeSet<>(PluginFolder.BUILT_IN);
    for (ObjectNode fields : queues.config().allFields()) {
      JsonNode configured = fields.path("plugins");
      if (configured.isString()) {
        names.add(configured.asString());
      }
      configured.forEach(name -> names.add(name.asString()));
    }
    for (NodeRecord node : queues.nodes().all()) {
      NodeIdentity presence = node.presence();
      if (presence != null) {
        names.addAll(presence.plugins());
      }
    }
    return names;
  }

  /** Whether this is one of them; a class may be spelt with {@code ::} for a dot. */
  boolean has(String plugin) {
    Set<String> names = names();
    return names.contains(plugin) || names.contains(plugin.replace("::", "."));
  }

  /** Those, and the ones that queues use already. */
  Set<String> namesInUse() {
    Set<String> names = names();
    for (Queue queue : queues.queues().all()) {
      names.add(queue.plugin());
    }
    return names;
  }
}
