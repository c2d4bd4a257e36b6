package io.millrace.wire;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which shard a request is for that does not say so, of a store whose systems are divided too.
 * Queues, job types, schedules and limits are divided by the first part of their names, as groups
 * are, and the ids of tasks, jobs and graph nodes tell their shard. Whatever this class says of a
 * malformed request, the shard that gets it refuses it.
 */
public final class ShardPaths {
  /** What the paths of the systems of a shard begin with, before its number. */
  public static final String PREFIX = "/shards/";

  private static final Pattern OBJECT_ID = Pattern.compile("[0-9a-f]{24}");
  private static final Pattern GUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,15}");

  /** The lower bits of the ids of nodes and the numbers of batches, which tell nothing. */
  private static final int NUMBER_BITS = 48;

  /** The bits of a GUID that are drawn at random. */
  private static final long RANDOM_BITS = (1L << 62) - 1;

  private final Placement placement;

  /** What a request is for. */
  public sealed interface Destination {
    /**
     * One shard.
     *
     * @param name by which it is told; null if an id tells it
     */
    record One(int shard, @Nullable String name) implements Destination {}

    /** What the store has once, such as principals, or what any server answers. */
    record Once() implements Destination {}

    /** What all shards have together: a list, or a change of all of them. */
    record All() implements Destination {}

    /** One shard that only its body tells. */
    record ByBody() implements Destination {}

    /** Something of which only its shard knows that it has it. */
    record Unknown() implements Destination {}
  }

  private static final Destination ONCE = new Destination.Once();
  private static final Destination ALL = new Destination.All();
  private static final Destination BY_BODY = new Destination.ByBody();
  private static final Destination UNKNOWN = new Destination.Unknown();

  /** The paths of a store with these shards. */
  public ShardPaths(Placement placement) {
    this.placement = placement;
  }

  /**
   * What a request is for.
   *
   * @param path as it was sent
   * @param query as it was sent; null for none
   */
  public Destination of(String method, String path, @Nullable String query) {
    List<String> parts = new ArrayList<>();
    for (String part : path.substring(1).split("/", -1)) {
      parts.add(decoded(part));
    }
    String second = parts.size() > 1 ? parts.get(1) : "";
    boolean reads = method.equals("GET") || method.equals("HEAD");
    return switch (parts.getFirst()) {
      case "dci" -> ofQueues(second, parts, reads, query);
      case "api" -> ofJobs(second, parts, reads, query);
      case "v1" -> ofGraphs(second, parts, reads, query);
      case "schedules" ->
          switch (second) {
            case "" -> ALL;
            case "preview" -> ONCE;
            default -> named(second);
          };
      case "limits" -> second.isEmpty() ? ALL : named(second);
      case "retention" -> parts.size() < 3 ? ALL : named(parts.get(2));
      case "archive" -> parts.size() < 3 ? ALL : byId(parts.get(2), UNKNOWN);
      case "why" -> byId(second, UNKNOWN);
      case "bulk" -> second.isEmpty() ? (reads ? ALL : BY_BODY) : UNKNOWN;
      case "history" -> ALL;
      default -> ONCE;
    };
  }

  private Destination ofQueues(
      String second, List<String> parts, boolean reads, @Nullable String query) {
    String third = parts.size() > 2 ? parts.get(2) : "";
    return switch (second) {
      case "queues" -> {
        if (!third.isEmpty()) {
          yield ofQueue(third);
        }
        yield reads ? ALL : BY_BODY;
      }
      case "tasks" ->
          switch (third) {
            case "id" -> parts.size() < 4 ? ONCE : byId(parts.get(3));
            case "search" -> ALL;
            case "wait" -> BY_BODY;
            default -> ofQueue(third);
          };
      case "nodes", "config", "scheduler-json", "search-tasks-json" -> ALL;
      case "events" -> byParameter(query, "queue", this::ofQueue, ALL);
      case "start-queue-json",
          "set-queue-attr-json",
          "delete-queue-json",
          "queue-create-tasks-json",
          "queue-create-tasks-from-query-json" ->
          BY_BODY;
      default -> ONCE;
    };
  }

  private Destination ofJobs(
      String second, List<String> parts, boolean reads, @Nullable String query) {
    String third = parts.size() > 2 ? parts.get(2) : "";
    return switch (second) {
      case "types" -> third.isEmpty() ? ALL : named(third);
      case "jobs" ->
          switch (third) {
            case "" ->
                byParameter(
                    query, "type", this::named, byParameter(query, "batch", this::byId, ALL));
            case "submit" -> named(parts.size() > 3 ? parts.get(3) : "");
            default -> GUID.matcher(third).matches() ? byId(third) : UNKNOWN;
          };
      case "batches" -> third.isEmpty() ? ALL : byId(third);
      case "workers" -> ALL;
      case "worker" -> {
        boolean untyped = third.isEmpty() || (third.equals("next") && parts.size() == 3 && !reads);
        yield named(untyped ? "" : third);
      }
      case "events" -> byParameter(query, "type", this::named, ALL);
      default -> ONCE;
    };
  }

  private Destination ofGraphs(
      String second, List<String> parts, boolean reads, @Nullable String query) {
    return switch (second) {
      case "nodes" -> {
        if (parts.size() > 2) {
          yield byId(parts.get(2));
        }
        yield reads ? byParameter(query, "below", this::byId, ALL) : BY_BODY;
      }
      case "running" -> ALL;
      case "events" -> byParameter(query, "below", this::byId, ALL);
      case "scheduler" -> byParameter(query, "id", this::byId, BY_BODY);
      default -> ONCE;
    };
  }

  private Destination named(String name) {
    return new Destination.One(placement.ofItem(name), name);
  }

  /**
   * By a parameter of the query, which may have several values.
   *
   * @param otherwise if it has none, or values of several shards
   */
  private static Destination byParameter(
      @Nullable String query,
      String name,
      Function<String, Destination> named,
      Destination otherwise) {
    Set<Destination> found =
        Stream.of(query == null ? new String[0] : query.split("&", -1))
            .filter(pair -> pair.startsWith(name + "="))
            .flatMap(pair -> Stream.of(decoded(pair.substring(name.length() + 1)).split(",", -1)))
            .filter(value -> !value.isBlank())
            .map(value -> named.apply(value.strip()))
            .collect(Collectors.toSet());
    return found.size() == 1 ? found.iterator().next() : otherwise;
  }

  private Destination byId(String id) {
    return byId(id, ONCE);
  }

  /**
   * By an id.
   *
   * @param otherwise if it is none
   */
  private Destination byId(String id, Destination otherwise) {
    OptionalInt shard = ofId(id);
    return shard.isEmpty() ? otherwise : new Destination.One(shard.getAsInt(), null);
  }

  /** Where a queue is, by its name or id. */
  public Destination ofQueue(String nameOrId) {
    return OBJECT_ID.matcher(nameOrId).matches() ? byId(nameOrId) : named(nameOrId);
  }

  /** The shard of a queue, a job type, a schedule or a limit of this name. */
  public int ofName(String name) {
    return placement.ofItem(name);
  }

  /** The shard that has given an id of a queue, a task, a job or a graph node; empty for others. */
  public OptionalInt ofId(String id) {
    int shards = placement.shards();
    if (OBJECT_ID.matcher(id).matches()) {
      return OptionalInt.of((int) (Long.parseLong(id, 8, 18, 16) % shards));
    }
    if (GUID.matcher(id).matches()) {
      String last = id.substring(19).replace("-", "");
      return OptionalInt.of((int) ((Long.parseUnsignedLong(last, 16) & RANDOM_BITS) % shards));
    }
    if (NUMBER.matcher(id).matches()) {
      long shard = Long.parseLong(id) >> NUMBER_BITS;
      return shard < shards ? OptionalInt.of((int) shard) : OptionalInt.empty();
    }
    return OptionalInt.empty();
  }

  private static String decoded(String part) {
    if (part.indexOf('%') < 0 && part.indexOf('+') < 0) {
      return part;
    }
    try {
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException _) {
      return part;
    }
  }
}
