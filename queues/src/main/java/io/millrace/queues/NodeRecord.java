package io.millrace.queues;

import io.millrace.queues.QueueTask.Place;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An execution node as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param timestampMillis when it last refreshed its record, in store time: milliseconds since the
 *     epoch, the same clock for all nodes
 * @param maxthreads the most tasks that it runs at a time over all queues, from 0; null for no
 *     limit
 * @param presence the process that has the name; null if it has left
 * @param place its place in the store; its kernel task is named by id
 */
public record NodeRecord(
    ObjectId id,
    String name,
    long timestampMillis,
    @Nullable Integer maxthreads,
    @Nullable NodeIdentity presence,
    Place place) {
  /** A node that has not refreshed its record for this long counts as dead. */
  public static final Duration SILENCE = Duration.ofSeconds(5);

  /** The state of the process that has the name. */
  public enum State {
    /** It has refreshed its record within the last five seconds. */
    ALIVE,
    /** It has neither done so nor given its name back. */
    DEAD,
    /** It has ended and given its name back. */
    LEFT
  }

  /**
   * The state of the process that has the name.
   *
   * @param nowMillis the store time of the read that found this record
   */
  public State stateAt(long nowMillis) {
    if (presence == null) {
      return State.LEFT;
    }
    return nowMillis - timestampMillis < SILENCE.toMillis() ? State.ALIVE : State.DEAD;
  }

  /** Whether this start of the node has the name. */
  public boolean isHeldBy(String instance) {
    return presence != null && presence.instance().equals(instance);
  }

  /** The same with another process; null if it has left. */
  public NodeRecord held(@Nullable NodeIdentity process, long nowMillis) {
    return new NodeRecord(id, name, nowMillis, maxthreads, process, place);
  }

  /** The same with another limit. */
  public NodeRecord limited(@Nullable Integer most) {
    return new NodeRecord(id, name, timestampMillis, most, presence, place);
  }

  /**
   * The document of a node.
   *
   * @param added whether the same transaction adds its definition as {@link Queue#ADDED}; it keeps
   *     the one that it has otherwise
   */
  public static Bytes write(NodeRecord node, boolean added) {
    ObjectNode json = Json.object();
    json.put("id", node.id().hex());
    json.put("timestamp", node.timestampMillis());
    json.put("maxthreads", node.maxthreads());
    NodeIdentity presence = node.presence();
    if (presence != null) {
      ObjectNode process = json.putObject("presence");
      process.put("instance", presence.instance());
      process.put("host", presence.host());
      process.put("process", presence.process());
      Queue.write(process, "plugins", presence.plugins());
    }
    if (added) {
      Json.putAdded(json, "task", Queue.ADDED);
    } else {
      json.put("task", node.place().task());
    }
    return Json.write(json);
  }

  /** Reads the output of {@link #write}. */
  public static NodeRecord read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new NodeRecord(
        new ObjectId(json.required("id").asString()),
        document.key().key(),
        json.required("timestamp").asLong(),
        Json.integer(json, "maxthreads"),
        readPresence(json.get("presence")),
        new Place(json.required("task").asLong(), document.version()));
  }

  private static @Nullable NodeIdentity readPresence(@Nullable JsonNode presence) {
    return presence == null
        ? null
        : new NodeIdentity(
            presence.required("instance").asString(),
            presence.required("host").asString(),
            presence.required("process").asString(),
            Queue.strings(presence.get("plugins")));
  }

  /**
   * The process that has a node's name.
   *
   * @param instance drawn at random for this start of the node
   * @param host the machine on which it runs
   * @param process the identity of the process on that machine, as {@link
   *     io.millrace.processes.ProcessIdentity} writes it
   * @param plugins the names of the plugins that it can run
   */
  public record NodeIdentity(String instance, String host, String process, List<String> plugins) {
    public NodeIdentity {
      plugins = List.copyOf(plugins);
    }

    /** Whether it can run this plugin; the name of a class may be written with {@code ::}. */
    public boolean offers(String plugin) {
      return plugins.contains(plugin) || plugins.contains(plugin.replace("::", "."));
    }
  }
}
