package io.millrace.server.queues;

import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueBackend.PluginVersion;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.work.policy.Policy;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The queues. */
final class QueueRoutes {
  private static final Set<String> PARAMS =
      Stream.concat(
              Stream.of(
                  "name",
                  "plugin",
                  "threads",
                  "sort",
                  "nodes_pin",
                  "nodes_ignore",
                  "requeue_orphans"),
              Policy.Field.keysOfQueues().stream())
          .collect(Collectors.toUnmodifiableSet());

  private static final String HINT =
      "no live node announces it; start a node that has it, or name it in plugins of the"
          + " configuration";

  private final QueueBackend.Definitions queues;
  private final Plugins plugins;
  private final Predicate<String> here;

  /**
   * The routes of queues.
   *
   * @param here whether a queue of a name belongs to this store
   */
  QueueRoutes(QueueBackend.Definitions queues, Plugins plugins, Predicate<String> here) {
    this.queues = queues;
    this.plugins = plugins;
    this.here = here;
  }

  /** Adds those that only read the store. */
  void addReadsTo(DciRoutes api) {
    api.limitable()
        .stale()
        .get("/queues", (request, _) -> all(request))
        .get("/queues/{queue}", (request, _) -> one(find(request, request.parameter("queue"))));
  }

  void addTo(DciRoutes whole) {
    DciRoutes api = whole.limitable();
    // Names of plugins tell nothing of queues, and who creates a queue needs them.
    api.get("/plugins", (_, _) -> Json.response(Shapes.strings(List.copyOf(plugins.names()))))
        .get("/plugins/{plugin}", (request, _) -> Json.response(plugins.describe(request)));
    addReadsTo(whole);
    api.role(Role.OPERATOR)
        .action("queue.create")
        .post("/queues", PARAMS, (request, input) -> Json.response(create(request, input)))
        .action("queue.change")
        .post(
            "/queues/{queue}",
            PARAMS,
            (request, input) -> Json.response(change(request, request.parameter("queue"), input)))
        .action("queue.resume")
        .post(
            "/queues/{queue}/resume",
            Set.of(),
            (request, input) -> Json.response(resume(request, request.parameter("queue"), input)))
        .action("queue.delete")
        .delete(
            "/queues/{queue}",
            (request, _) -> Json.response(delete(request, request.parameter("queue"))));
  }

  /** What the caller reaches. */
  QueueReach reach(Request request) {
    return QueueReach.of(request, queues);
  }

  /** The queue of this id or name. */
  Queue find(Request request, String idOrName) {
    return lookUp(request, idOrName).orElseThrow(() -> notFound(idOrName));
  }

  /** The queue of this id or name, if there is one within the reach of the caller. */
  Optional<Queue> lookUp(Request request, String idOrName) {
    Optional<Queue> found = queues.find(idOrName).filter(reach(request)::includes);
    found.ifPresent(queue -> request.concerns(Area.QUEUES, queue.name()));
    return found;
  }

  private static Refusal notFound(String idOrName) {
    return Refusal.of("queue not found", "queue", idOrName);
  }

  Response all(Request request) {
    List<Queue> all = queues.all().stream().filter(reach(request)::includes).toList();
    List<Queue.Counts> counts = queues.counts(all);
    ArrayNode shown = Json.array();
    for (int i = 0; i < all.size(); i++) {
      shown.add(Shapes.of(all.get(i), counts.get(i)));
    }
    return Json.response(shown);
  }

  private Response one(Queue queue) {
    return Json.response(Shapes.of(queue, queues.counts(List.of(queue)).getFirst()));
  }

  private ObjectNode create(Request request, Input input) {
    String name = input.text("name");
    String plugin = input.text("plugin");
    if (name.isEmpty() || plugin.isEmpty()) {
      throw Refusal.of("name and plugin required");
    }
    checkNew(request, name);
    input.allow(PARAMS, "Invalid param");
    checkPlugin(plugin, "Unknown plugin");
    Queue.Settings settings = settings(Queue.Settings.DEFAULTS, input);
    Queue queue = queues.create(name, plugin, settings);
    ObjectNode result = Results.inserted(queue.id());
    result.set("id", Shapes.id(queue.id()));
    return result;
  }

  /** Creates a queue without threads. */
  Queue create(Request request, String name, String plugin) {
    checkNew(request, name);
    return queues.create(name, plugin, Queue.Settings.DEFAULTS);
  }

  private void checkNew(Request request, String name) {
    checkName(request, name);
    request.concerns(Area.QUEUES, name);
    request.changed(1, name, name);
  }

  private void checkName(Request request, String name) {
    reach(request).checkName(name);
    if (!here.test(name)) {
      throw Refusal.of("a queue of this name is in another shard", "name", name);
    }
  }

  private void checkPlugin(String plugin, String error) {
    if (!plugins.has(plugin)) {
      throw Refusal.of(error, "plugin", plugin).with(Json.object().put("hint", HINT));
    }
  }

  ObjectNode change(Request request, String idOrName, Input input) {
    if (input.isEmpty()) {
      throw Refusal.of("no params");
    }
    input.allow(PARAMS, "unknown param");
    JsonNode plugin = input.get("plugin");
    if (plugin != null) {
      if (!plugin.isString()) {
        throw Refusal.of("unknown plugin", "plugin", plugin);
      }
      checkPlugin(plugin.asString(), "unknown plugin");
    }
    settings(Queue.Settings.DEFAULTS, input);
    JsonNode name = input.get("name");
    if (name != null && (!name.isString() || name.asString().isEmpty())) {
      throw Refusal.of("name must be a string", "name", name);
    }
    if (name != null) {
      checkName(request, name.asString());
    }
    AtomicBoolean modified = new AtomicBoolean();
    Optional<Queue> changed =
        lookUp(request, idOrName)
            .flatMap(queue ->
                queues.change(
                    queue.id(),
                    old -> {
                      Change next =
                          new Change(
                              name == null ? old.name() : name.asString(),
                              plugin == null ? old.plugin() : plugin.asString(),
                              settings(old.settings(), input));
                      modified.set(!next.equals(old));
                      return next;
                    }));
    if (changed.isEmpty()) {
      throw notFound(idOrName).with(Results.updated(0, 0));
    }
    return Results.updated(1, modified.get() ? 1 : 0);
  }

  private ObjectNode resume(Request request, String idOrName, Input input) {
    input.allow(Set.of(), "Invalid param");
    Queue was =
        lookUp(request, idOrName)
            .flatMap(queue -> queues.resume(queue.id()))
            .orElseThrow(() -> notFound(idOrName).with(Results.updated(0, 0)));
    return Results.updated(1, was.health().isGood() ? 0 : 1);
  }

  /** The old settings with the changes in the input. */
  private static Queue.Settings settings(Queue.Settings old, Input input) {
    return new Queue.Settings(
        input.get("threads") == null
            ? old.threads()
            : input.count("threads", "threads must be a non-negative integer"),
        input.get("sort") == null ? old.sort() : sort(input),
        input.get("nodes_pin") == null ? old.nodesPin() : input.strings("nodes_pin"),
        input.get("nodes_ignore") == null ? old.nodesIgnore() : input.strings("nodes_ignore"),
        input.get("requeue_orphans") == null ? old.requeueOrphans() : requeues(input),
        old.policy().with(input.settings()));
  }

  private static int requeues(Input input) {
    return Optional.ofNullable(
            input.count("requeue_orphans", "requeue_orphans must be a non-negative integer"))
        .orElse(0);
  }

  private static Sort sort(Input input) {
    String word = input.text("sort");
    return Sort.of(word.isEmpty() ? Sort.DEFAULT.word() : word)
        .orElseThrow(() -> Refusal.of("sort must be fifo, lifo or default", "sort", word));
  }

  ObjectNode delete(Request request, String idOrName) {
    Optional<Queue> queue = lookUp(request, idOrName);
    if (queue.isEmpty() || !queues.delete(queue.get().id())) {
      throw notFound(idOrName).with(Results.deleted(0));
    }
    return Results.deleted(1);
  }

  /** The plugins that may be used for queues: built in, configured, or announced by a node. */
  static final class Plugins {
    private final QueueBackend queues;

    Plugins(QueueBackend queues) {
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

    /** What is known of a plugin. */
    ObjectNode describe(Request request) {
      String plugin = request.parameter("plugin");
      if (!has(plugin)) {
        throw Refusal.of("plugin not found", "plugin", plugin);
      }
      boolean unlimited = request.caller().reach().coversEverything();
      ObjectNode json = Json.object().put("name", plugin);
      ArrayNode versions = json.putArray("versions");
      for (PluginVersion version : queues.declarations().versions(plugin)) {
        ObjectNode one = versions.addObject();
        one.set(
            "params",
            version
                .declaration()
                .<JsonNode>map(declared -> declared.json().path("params"))
                .orElseGet(Json.MAPPER::nullNode));
        ArrayNode nodes = one.putArray("nodes");
        // Nodes are out of every reach.
        version.nodes().stream().filter(_ -> unlimited).forEach(nodes::add);
      }
      return json;
    }

    /** Whether this is one of them; class names may have {@code ::} for a dot. */
    boolean has(String plugin) {
      Set<String> names = names();
      return names.contains(plugin) || names.contains(plugin.replace("::", "."));
    }

    /** All of them, and those that queues use already. */
    Set<String> namesInUse() {
      Set<String> names = names();
      for (Queue queue : queues.queues().all()) {
        names.add(queue.plugin());
      }
      return names;
    }
  }
}
