package io.millrace.server.shards;

import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.search.Projection;
import io.millrace.queues.search.SearchOptions;
import io.millrace.queues.search.SearchOptions.SortKey;
import io.millrace.server.queues.Input;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.Subject;
import io.millrace.work.filter.ValueOrder;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A search for queue tasks in all shards: each is asked for the tasks from the first to the last
 * that is wanted, with the fields by which they are sorted. A task that several shards find, in an
 * archive that they share, counts once.
 */
final class MergedSearch {
  /** The last task that a search shows, {@code skip} and {@code limit} together. */
  static final int MOST = 2_000;

  /** The fields of a task by which the shown one is sorted as the task is. */
  private static final Set<String> SORTABLE =
      Set.of(
          "status",
          "node",
          "params",
          "ctime",
          "mtime",
          "reason",
          "orphaned",
          "snoozed",
          "not_before",
          "started");

  private static final Set<String> IDS = Set.of("_id", "queue");

  /** Fields that are not always shown as they are sorted. */
  private static final Set<String> SHOWN_OTHERWISE =
      Set.of("stdout", "stderr", "mixedout", "attempt", "tags");

  private static final String NOT_OBJECTS = "filter and options must be name/value objects";

  private final ObjectNode body;
  private final ObjectNode options;
  private final SearchOptions wanted;
  private final boolean old;
  private final boolean counts;
  private final boolean archived;
  private final boolean pretty;

  /** Sends a search to all shards, and returns their answers. */
  @FunctionalInterface
  interface Shards {
    List<JsonNode> ask(ObjectNode body) throws InterruptedException;
  }

  private MergedSearch(Input input, boolean old) {
    this.old = old;
    this.body = input.all().deepCopy();
    body.remove(Route.STALE);
    this.counts = input.bool("count", false);
    this.pretty = !old && input.bool("pretty", false);
    this.archived =
        (!old && input.bool("archived", false)) || namesIds(input.object("filter", NOT_OBJECTS));
    this.options = old ? oldOptions(input) : input.object("options", NOT_OBJECTS).deepCopy();
    this.wanted = SearchOptions.read(options);
  }

  /**
   * A search.
   *
   * @param old whether it is one of version 3, which has other parameters and counts
   * @return null if the input is not valid, as each shard says too
   */
  static @Nullable MergedSearch of(Input input, boolean old) {
    try {
      return new MergedSearch(input, old);
    } catch (InvalidRequestException | HttpProblem _) {
      return null;
    }
  }

  private static ObjectNode oldOptions(Input input) {
    ObjectNode options = Json.object();
    for (String name : List.of("limit", "skip")) {
      options.put(name, input.count(name, name + " must be a non-negative integer"));
    }
    return options;
  }

  private static boolean namesIds(JsonNode filter) {
    return filter.has("_id")
        || filter.has("id")
        || filter.valueStream().anyMatch(MergedSearch::namesIds);
  }

  /** Whether the answer has line breaks. */
  boolean isPretty() {
    return pretty;
  }

  /**
   * The answer to the search.
   *
   * @throws HttpProblem 400 if shards cannot be searched together like this
   */
  JsonNode answer(Shards shards) throws InterruptedException {
    if (counts) {
      long count = archived ? read(shards, Integer.MAX_VALUE).size() : counted(shards);
      return old ? Json.array().add(1).add(count) : Json.object().put("count", count);
    }
    for (SortKey key : wanted.sort()) {
      if (SHOWN_OTHERWISE.contains(key.path().steps().getFirst())) {
        throw MergedLists.nameOne(
            "tasks of several shards cannot be sorted by " + key.path().dotted());
      }
    }
    Projection projection = wanted.projection();
    ArrayNode shown = Json.array();
    read(shards, (long) wanted.skip() + wanted.limit()).values().stream()
        .sorted(order())
        .skip(wanted.skip())
        .limit(wanted.limit())
        .forEach(task -> shown.add(of(task, projection)));
    return shown;
  }

  private static ObjectNode of(ObjectNode task, Projection projection) {
    // The archive is not a field of the task.
    JsonNode archived = task.remove("archived");
    ObjectNode shown = projection.of(task);
    return archived == null ? shown : shown.set("archived", archived);
  }

  private long counted(Shards shards) throws InterruptedException {
    long count = 0;
    for (JsonNode answer : shards.ask(body)) {
      count += old ? answer.required(1).asLong() : answer.required("count").asLong();
    }
    return count;
  }

  /** The first tasks of each shard, by id. */
  private Map<String, ObjectNode> read(Shards shards, long most) throws InterruptedException {
    Map<String, ObjectNode> found = new LinkedHashMap<>();
    boolean all = false;
    for (int from = 0; from < most && !all; from += SearchOptions.MOST) {
      if (from >= MOST) {
        throw MergedLists.nameOne(
            "a search in all shards goes no further than %d tasks".formatted(MOST));
      }
      int limit = (int) Math.min(SearchOptions.MOST, most - from);
      all = true;
      for (JsonNode tasks : shards.ask(page(from, limit))) {
        all &= tasks.size() < limit;
        for (JsonNode task : tasks.asArray()) {
          found.merge(id(task), task.asObject(), (one, other) -> one.has("archived") ? other : one);
        }
      }
    }
    return found;
  }

  private ObjectNode page(int skip, int limit) {
    ObjectNode page = body.deepCopy();
    page.remove("pretty");
    page.remove("count");
    if (old) {
      return page.put("limit", limit).put("skip", skip);
    }
    ObjectNode changed = options.deepCopy().put("limit", limit).put("skip", skip);
    if (counts) {
      changed.putObject("projection").put("_id", 1);
    } else if (changed.get("projection") instanceof ObjectNode fields) {
      changed.set("projection", withOrder(fields));
    }
    return page.set("options", changed);
  }

  /** A projection that also has what tasks are sorted by. */
  private ObjectNode withOrder(ObjectNode projection) {
    Set<String> needed = new HashSet<>(Set.of("_id"));
    wanted.sort().forEach(key -> needed.add(key.path().steps().getFirst()));
    boolean only =
        projection
            .propertyStream()
            .anyMatch(field ->
                isWanted(field.getValue())
                    && (!field.getKey().equals("_id") || projection.size() == 1));
    ObjectNode fields = Json.object();
    projection
        .properties()
        .forEach(field -> {
          String top = FieldPath.of(field.getKey()).steps().getFirst();
          if (!needed.contains(top)) {
            fields.set(field.getKey(), field.getValue());
          }
        });
    if (only) {
      needed.forEach(field -> fields.put(field, 1));
    }
    return fields;
  }

  private static boolean isWanted(JsonNode value) {
    return value.isBoolean() ? value.booleanValue() : !ValueOrder.isZero(value);
  }

  private static String id(JsonNode task) {
    return task.required("_id").required("$oid").asString();
  }

  /** The order of tasks as they are shown: the same as that of the tasks. */
  private Comparator<ObjectNode> order() {
    return (left, right) -> {
      for (SortKey key : wanted.sort()) {
        int compared = ValueOrder.SORTED.compare(value(left, key), value(right, key));
        if (compared != 0) {
          return key.descending() ? -compared : compared;
        }
      }
      return id(left).compareTo(id(right));
    };
  }

  private static JsonNode value(ObjectNode task, SortKey key) {
    Subject subject =
        name -> {
          JsonNode shown = task.get(name);
          return IDS.contains(name) && shown != null
              ? shown.get("$oid")
              : SORTABLE.contains(name) ? shown : null;
        };
    return Stream.concat(key.path().values(subject).stream(), Stream.of(MissingNode.getInstance()))
        .findFirst()
        .orElseThrow();
  }
}
