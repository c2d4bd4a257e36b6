package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.PluginVersion;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The params that plugins declare: those that are built in, and those that execution nodes report.
 * A node reports them in a document of its own, only when they change, since its record is written
 * every second. Nodes may have different versions of a plugin: params are accepted if the version
 * of any node takes them, and any params are if a node has a version without a declaration. What is
 * looked up is up to a second old. Safe for use by threads.
 */
public final class DeclaredParams implements QueueBackend.Declarations {
  /** The longest report of a node; plugins for which it has no room count as undeclared. */
  static final int MAX_BYTES = 64 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(DeclaredParams.class);
  private static final long FRESH_MILLIS = 1_000;

  private final QueueSession session;
  private volatile Snapshot current = new Snapshot(Long.MIN_VALUE, Map.of());

  DeclaredParams(QueueSession session) {
    this.session = session;
  }

  private record Snapshot(long readMillis, Map<String, List<PluginVersion>> plugins) {}

  /** Reports what the plugins of a node declare. */
  @Override
  public void put(String node, Map<String, PluginDeclaration> declared) {
    ObjectNode json = Json.object();
    int bytes = 2;
    for (Map.Entry<String, PluginDeclaration> each : new TreeMap<>(declared).entrySet()) {
      ObjectNode one = each.getValue().json();
      bytes += Json.write(one).size() + each.getKey().length() + 4;
      if (bytes > MAX_BYTES) {
        LOG.warn(
            "the declarations of the plugins of node {} have more than {} bytes: plugin {} and"
                + " those after it take any params",
            node,
            MAX_BYTES,
            each.getKey());
        break;
      }
      json.set(each.getKey(), one);
    }
    Bytes body = Json.write(json);
    var _ =
        session.retry(
            "the declarations of node " + node,
            () -> {
              Document there = session.document(Keys.declarations(node)).orElse(null);
              if (there == null ? json.isEmpty() : there.body().equals(body)) {
                return true;
              }
              return session.tryCommit(
                          session
                              .begin()
                              .put(
                                  Keys.declarations(node),
                                  there == null ? DocumentVersion.ABSENT : there.version(),
                                  body)
                              .build())
                      == null
                  ? null
                  : true;
            });
  }

  /** The versions of a plugin that nodes have; none if no node offers it. */
  @Override
  public List<PluginVersion> versions(String plugin) {
    Optional<PluginDeclaration> builtIn = PluginFolder.ofBuiltIn(plugin);
    if (builtIn.isPresent()) {
      return List.of(new PluginVersion(builtIn, List.of()));
    }
    Snapshot known = current;
    long now = session.nowMillis();
    if (now < known.readMillis() || now - FRESH_MILLIS >= known.readMillis()) {
      known = new Snapshot(now, read());
      current = known;
    }
    return known.plugins().getOrDefault(plugin.replace("::", "."), List.of());
  }

  private Map<String, List<PluginVersion>> read() {
    Map<String, ObjectNode> reports = new HashMap<>();
    for (Document document : session.all(Keys.DECLARATIONS)) {
      if (document.body().size() <= 2 * MAX_BYTES) {
        reports.put(document.key().key(), Json.read(document.body()));
      }
    }
    if (reports.isEmpty()) {
      return Map.of();
    }
    Map<String, Map<Optional<PluginDeclaration>, List<String>>> found = new HashMap<>();
    for (NodeRecord node : new NodeRegistry(session).all()) {
      NodeIdentity presence = node.presence();
      if (presence == null) {
        continue;
      }
      ObjectNode report = reports.getOrDefault(node.name(), Json.object());
      for (String plugin : presence.plugins()) {
        found
            .computeIfAbsent(plugin.replace("::", "."), _ -> new HashMap<>())
            .computeIfAbsent(declaration(node.name(), plugin, report), _ -> new ArrayList<>())
            .add(node.name());
      }
    }
    Map<String, List<PluginVersion>> plugins = new HashMap<>();
    found.forEach((plugin, versions) -> {
      List<PluginVersion> all = new ArrayList<>();
      versions.forEach((declaration, nodes) -> all.add(new PluginVersion(declaration, nodes)));
      plugins.put(plugin, all);
    });
    return plugins;
  }

  /** What a node reports of a plugin; a report that is not valid counts for nothing. */
  private static Optional<PluginDeclaration> declaration(
      String node, String plugin, ObjectNode report) {
    JsonNode declared = report.get(plugin);
    try {
      return Optional.ofNullable(declared).map(PluginDeclaration::read);
    } catch (IllegalArgumentException e) {
      LOG.debug("what node {} reports of plugin {} counts for nothing", node, plugin, e);
      return Optional.empty();
    }
  }

  /**
   * What is wrong with the params of a task.
   *
   * @param ignored names that are accepted though they are not declared
   * @return empty if a version of the plugin takes them, or none is known
   */
  Optional<String> problem(String plugin, ObjectNode params, Predicate<String> ignored) {
    Optional<String> problem = Optional.empty();
    for (PluginVersion version : versions(plugin)) {
      problem = version.declaration().flatMap(it -> it.problem(plugin, params, ignored));
      if (problem.isEmpty()) {
        return problem;
      }
    }
    return problem;
  }
}
