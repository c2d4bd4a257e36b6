package io.millrace.queues;

import io.millrace.queues.Queue.Health.Halt;
import io.millrace.queues.Queue.Health.Suspension;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Document;
import io.millrace.work.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param plugin the name of the plugin that runs its tasks
 * @param settings the settings that an operator has chosen
 * @param health problems that keep it from being served
 * @param place its place in the store; its kernel task is named by id
 */
public record Queue(
    ObjectId id, String name, String plugin, Settings settings, Health health, Place place) {

  /** The group of kernel tasks that nodes claim from. */
  public String waitingGroup() {
    return waitingGroup(id);
  }

  /** The same for the queue of this id. */
  public static String waitingGroup(ObjectId queue) {
    return "queues/" + queue.hex();
  }

  /** The queue whose tasks wait in the group of this name; empty if no queue's tasks do. */
  public static Optional<ObjectId> waitingIn(String group) {
    return Optional.of(group)
        .filter(name -> name.startsWith("queues/"))
        .map(name -> name.substring("queues/".length()))
        .filter(ObjectId::isValid)
        .map(ObjectId::new);
  }

  /** The group of the kernel tasks of tasks that are held back. */
  public static String heldGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/held";
  }

  /** The group of the kernel tasks of tasks that have finished. */
  public static String finishedGroup(ObjectId queue) {
    return "queues/" + queue.hex() + "/finished";
  }

  /** Whether this is the {@link #finishedGroup} of any queue. */
  public static boolean isFinishedGroup(String group) {
    return group.startsWith("queues/") && group.endsWith("/finished");
  }

  /** The group of the kernel task of a queue task with this status. */
  public static String group(ObjectId queue, int status) {
    if (Status.isFinished(status)) {
      return finishedGroup(queue);
    }
    return Status.isHeld(status) ? heldGroup(queue) : waitingGroup(queue);
  }

  /** The local name of the kernel task that stands for a definition. */
  public static final String ADDED = "definition";

  /** The document of a queue whose definition the same transaction adds as {@link #ADDED}. */
  public static Bytes write(String name, String plugin, Settings settings, Health health) {
    ObjectNode json = Json.object();
    json.put("name", name);
    json.put("plugin", plugin);
    json.put("threads", settings.threads());
    json.put("sort", settings.sort().word());
    write(json, "nodes_pin", settings.nodesPin());
    write(json, "nodes_ignore", settings.nodesIgnore());
    json.put("requeue_orphans", settings.requeueOrphans());
    if (!settings.policy().isEmpty()) {
      ObjectNode policy = json.putObject("policy");
      settings.policy().fields().forEach(policy::put);
    }
    write(json, health);
    Json.putAdded(json, "task", ADDED);
    return Json.write(json);
  }

  /** Written only if something is wrong, so that old versions and folders have the same form. */
  private static void write(ObjectNode json, Health health) {
    Halt halt = health.halt();
    if (halt != null) {
      write(json.putObject("halted"), halt.node(), halt.reason(), halt.atMillis())
          .put("threads", halt.threads());
    }
    if (!health.suspensions().isEmpty()) {
      ArrayNode array = json.putArray("suspended");
      for (Suspension each : health.suspensions()) {
        write(array.addObject(), each.node(), each.reason(), each.atMillis());
      }
    }
  }

  private static ObjectNode write(ObjectNode json, String node, String reason, long atMillis) {
    return json.put("node", node).put("reason", reason).put("at", atMillis);
  }

  private static Health readHealth(ObjectNode json) {
    JsonNode halted = json.get("halted");
    Halt halt =
        halted == null
            ? null
            : new Halt(
                halted.required("node").asString(),
                halted.required("reason").asString(),
                halted.required("threads").asInt(),
                halted.required("at").asLong());
    List<Suspension> suspensions = new ArrayList<>();
    for (JsonNode each : json.path("suspended")) {
      suspensions.add(
          new Suspension(
              each.required("node").asString(),
              each.required("reason").asString(),
              each.required("at").asLong()));
    }
    return new Health(halt, suspensions);
  }

  /** Reads the output of {@link #write}. */
  public static Queue read(Document document) {
    ObjectNode json = Json.read(document.body());
    Settings settings =
        new Settings(
            Json.integer(json, "threads"),
            Sort.of(json.required("sort").asString()).orElse(Sort.DEFAULT),
            strings(json.get("nodes_pin")),
            strings(json.get("nodes_ignore")),
            json.path("requeue_orphans").asInt(0),
            Policy.read(json.get("policy")));
    return new Queue(
        new ObjectId(document.key().key()),
        json.required("name").asString(),
        json.required("plugin").asString(),
        settings,
        readHealth(json),
        new Place(json.required("task").asLong(), document.version()));
  }

  static void write(ObjectNode json, String field, List<String> values) {
    ArrayNode array = json.putArray(field);
    values.forEach(array::add);
  }

  static List<String> strings(@Nullable JsonNode array) {
    List<String> values = new ArrayList<>();
    if (array != null) {
      array.forEach(value -> values.add(value.asString()));
    }
    return values;
  }

  /**
   * Problems that keep a queue from being served as its settings say: nodes that cannot start task
   * runners for it.
   *
   * @param halt why the queue runs no tasks at all; null unless a node has halted it
   * @param suspensions the nodes that claim none of its tasks, the first one first
   */
  public record Health(@Nullable Halt halt, List<Suspension> suspensions) {
    /** Nothing is wrong. */
    public static final Health GOOD = new Health(null, List.of());

    /** If this many nodes have failed, the queue itself is at fault and is halted. */
    public static final int MAX_SUSPENSIONS = 20;

    private static final int MAX_REASON_CHARS = 500;

    /**
     * A queue's {@code threads} were set to 0, because no live node that may serve it can start a
     * runner.
     *
     * @param node the node that halted it
     * @param reason why it could not start a runner
     * @param threads the former limit of the queue, from 1
     * @param atMillis when, in milliseconds since the epoch
     */
    public record Halt(String node, String reason, int threads, long atMillis) {}

    /**
     * A node has stopped claiming the queue's tasks.
     *
     * @param node its name
     * @param reason why it could not start a runner
     * @param atMillis when, in milliseconds since the epoch
     */
    public record Suspension(String node, String reason, long atMillis) {}

    public Health {
      suspensions = List.copyOf(suspensions);
    }

    /** Whether nothing is wrong. */
    public boolean isGood() {
      return halt == null && suspensions.isEmpty();
    }

    /** Whether the node of this name has stopped claiming. */
    public boolean isSuspendedOn(String node) {
      return suspensions.stream().anyMatch(each -> each.node().equals(node));
    }

    /** The same with a node that is not to serve the queue. */
    public Health suspendedOn(String node, String reason, long nowMillis) {
      List<Suspension> next = new ArrayList<>(without(node).suspensions());
      next.add(new Suspension(node, shortened(reason), nowMillis));
      return new Health(halt, next);
    }

    /** The same without what a node suspended. */
    public Health without(String node) {
      return new Health(
          halt, suspensions.stream().filter(each -> !each.node().equals(node)).toList());
    }

    /** The same for a queue that no node is to serve. */
    public Health haltedBy(String node, String reason, int threads, long nowMillis) {
      return new Health(new Halt(node, shortened(reason), threads, nowMillis), suspensions);
    }

    private static String shortened(String reason) {
      return reason.length() <= MAX_REASON_CHARS
          ? reason
          : reason.substring(0, MAX_REASON_CHARS) + "…";
    }
  }

  /**
   * The settings of a queue.
   *
   * @param threads the most tasks that run at a time over all nodes, from 0; null runs none, like 0
   * @param sort the order of its tasks; {@link Sort#DEFAULT} by default
   * @param nodesPin the only nodes that may run its tasks; empty for all. If this is not empty,
   *     {@code nodesIgnore} has no effect
   * @param nodesIgnore nodes that may not run its tasks
   * @param requeueOrphans how often an orphaned task is queued again before it stays orphaned, from
   *     0, the default
   * @param policy what applies to tasks without settings of their own
   */
  public record Settings(
      @Nullable Integer threads,
      Sort sort,
      List<String> nodesPin,
      List<String> nodesIgnore,
      int requeueOrphans,
      Policy policy) {
    /** The settings of a queue that runs no tasks yet. */
    public static final Settings DEFAULTS =
        new Settings(null, Sort.DEFAULT, List.of(), List.of(), 0, Policy.NONE);

    /** Without settings for its tasks. */
    public Settings(
        @Nullable Integer threads,
        Sort sort,
        List<String> nodesPin,
        List<String> nodesIgnore,
        int requeueOrphans) {
      this(threads, sort, nodesPin, nodesIgnore, requeueOrphans, Policy.NONE);
    }

    /**
     * Copies the lists.
     *
     * @throws InvalidRequestException when a number is negative
     */
    public Settings {
      if (threads != null && threads < 0) {
        throw new InvalidRequestException("threads", "threads must be a non-negative integer");
      }
      if (requeueOrphans < 0) {
        throw new InvalidRequestException(
            "requeue_orphans", "requeue_orphans must be a non-negative integer");
      }
      nodesPin = List.copyOf(nodesPin);
      nodesIgnore = List.copyOf(nodesIgnore);
    }

    /** The same with another limit. */
    public Settings withThreads(@Nullable Integer limit) {
      return new Settings(limit, sort, nodesPin, nodesIgnore, requeueOrphans, policy);
    }

    /** The same with other settings for its tasks. */
    public Settings withPolicy(Policy other) {
      return new Settings(threads, sort, nodesPin, nodesIgnore, requeueOrphans, other);
    }

    /** How many tasks may run at a time; none without {@link #threads}. */
    public int limit() {
      return Optional.ofNullable(threads).orElse(0);
    }

    /** Whether a node of this name may run its tasks. */
    public boolean mayRunOn(String node) {
      return nodesPin.isEmpty() ? !nodesIgnore.contains(node) : nodesPin.contains(node);
    }
  }

  /** The order in which the waiting tasks of a queue are run, by their ids. */
  public enum Sort {
    /** The oldest first. */
    FIFO,
    /** The newest first. */
    LIFO,
    /** Oldest first, as the explicit default. */
    DEFAULT;

    /** The word for it: {@code fifo}, {@code lifo} or {@code default}. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The order of this word; empty if there is none. */
    public static Optional<Sort> of(String word) {
      for (Sort sort : values()) {
        if (sort.word().equals(word)) {
          return Optional.of(sort);
        }
      }
      return Optional.empty();
    }

    /** In which order its tasks are claimed. */
    public Claim.Order claimOrder() {
      return this == LIFO ? Claim.Order.NEWEST : Claim.Order.OLDEST;
    }
  }

  /**
   * The number of tasks of a queue.
   *
   * @param queued with a status of -2 or less, including held ones
   * @param running claimed or running
   * @param completed with a positive status
   */
  public record Counts(long queued, long running, long completed) {}

  /**
   * The tasks of a queue in the store.
   *
   * @param waiting those that can be claimed now
   * @param delayed those that can be claimed later
   * @param active claimed or running
   * @param held held back until they are queued again
   * @param finished those that have finished
   * @param oldestMillis when the oldest waiting one became available, in milliseconds since the
   *     epoch; null if none is waiting
   */
  public record Load(
      long waiting,
      long delayed,
      long active,
      long held,
      long finished,
      @Nullable Long oldestMillis) {
    /** For how long the oldest waiting task could have been claimed; 0 if none is waiting. */
    public long waitedMillis(long nowMillis) {
      return oldestMillis == null ? 0 : Math.max(0, nowMillis - oldestMillis);
    }
  }
}
