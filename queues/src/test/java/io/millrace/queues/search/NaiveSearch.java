package io.millrace.queues.search;

import io.millrace.queues.QueueTask;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Search as one would write it first: every task as JSON, every filter read anew for each. */
final class NaiveSearch {
  private static final JsonMapper JSON = JsonMapper.shared();

  private NaiveSearch() {}

  static List<QueueTask> find(List<QueueTask> tasks, ObjectNode filter, ObjectNode options) {
    Comparator<QueueTask> order = Comparator.comparing(task -> task.id().hex());
    List<Map.Entry<String, JsonNode>> keys =
        new ArrayList<>(List.copyOf(options.path("sort").properties())).reversed();
    for (Map.Entry<String, JsonNode> key : keys) {
      Comparator<QueueTask> byKey =
          (left, right) -> compare(at(json(left), key.getKey()), at(json(right), key.getKey()));
      Comparator<QueueTask> directed = key.getValue().asInt() < 0 ? byKey.reversed() : byKey;
      order = directed.thenComparing(order);
    }
    return tasks.stream()
        .filter(task -> matches(json(task), filter))
        .sorted(order)
        .skip(options.path("skip").asInt(0))
        .limit(options.path("limit").asInt(100))
        .toList();
  }

  static long count(List<QueueTask> tasks, ObjectNode filter) {
    return tasks.stream().filter(task -> matches(json(task), filter)).count();
  }

  private static ObjectNode json(QueueTask task) {
    ObjectNode json = JSON.createObjectNode();
    json.put("_id", task.id().hex());
    json.put("queue", task.queue().hex());
    json.put("status", task.status());
    json.put("node", task.progress().node());
    json.put("ctime", task.ctimeMillis());
    json.put("mtime", task.progress().mtimeMillis());
    json.set("params", task.params());
    return json;
  }

  private static boolean matches(JsonNode task, JsonNode filter) {
    for (Map.Entry<String, JsonNode> part : filter.properties()) {
      boolean good =
          switch (part.getKey()) {
            case "$and" -> part.getValue().valueStream().allMatch(each -> matches(task, each));
            case "$or" -> part.getValue().valueStream().anyMatch(each -> matches(task, each));
            default -> fits(at(task, part.getKey()), part.getValue());
          };
      if (!good) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable JsonNode at(JsonNode task, String path) {
    JsonNode value = task;
    for (String step : path.split("\\.", -1)) {
      value = value == null ? null : value.get(step);
    }
    return value;
  }

  private static boolean fits(@Nullable JsonNode value, JsonNode wanted) {
    if (!wanted.isObject()) {
      return same(value, wanted);
    }
    for (Map.Entry<String, JsonNode> each : wanted.properties()) {
      JsonNode limit = each.getValue();
      boolean good =
          switch (each.getKey()) {
            case "$in" -> limit.valueStream().anyMatch(one -> same(value, one));
            case "$nin" -> limit.valueStream().noneMatch(one -> same(value, one));
            case "$ne" -> !same(value, limit);
            case "$exists" -> (value != null) == limit.asBoolean();
            case "$contains" -> texts(value).anyMatch(text -> text.contains(lower(limit)));
            case "$gt" -> somehow(value, limit, 1, 1);
            case "$gte" -> somehow(value, limit, 0, 1);
            case "$lt" -> somehow(value, limit, -1, -1);
            case "$lte" -> somehow(value, limit, -1, 0);
            default -> throw new IllegalArgumentException(each.getKey());
          };
      if (!good) {
        return false;
      }
    }
    return true;
  }

  private static Stream<String> texts(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return Stream.of();
    }
    return value.isContainer()
        ? value.valueStream().flatMap(NaiveSearch::texts)
        : Stream.of(lower(value));
  }

  private static String lower(JsonNode value) {
    return value.asString().toLowerCase(Locale.ROOT);
  }

  private static boolean same(@Nullable JsonNode value, JsonNode wanted) {
    if (value == null || value.isNull()) {
      return wanted.isNull();
    }
    if (value.isArray()) {
      return value.valueStream().anyMatch(each -> same(each, wanted));
    }
    return (value.isNumber() && wanted.isNumber())
        ? value.doubleValue() == wanted.doubleValue()
        : value.equals(wanted);
  }

  private static boolean somehow(@Nullable JsonNode value, JsonNode limit, int least, int most) {
    if (value != null && value.isArray()) {
      return value.valueStream().anyMatch(each -> somehow(each, limit, least, most));
    }
    if (value == null || rank(value) != rank(limit)) {
      return false;
    }
    int compared = Integer.signum(compare(value, limit));
    return compared >= least && compared <= most;
  }

  private static int rank(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return 0;
    }
    return value.isNumber()
        ? 1
        : value.isString() ? 2 : value.isObject() ? 3 : value.isArray() ? 4 : 5;
  }

  private static int compare(@Nullable JsonNode left, @Nullable JsonNode right) {
    if (rank(left) != rank(right) || left == null || right == null) {
      return Integer.compare(rank(left), rank(right));
    }
    return left.isNumber()
        ? Double.compare(left.doubleValue(), right.doubleValue())
        : left.isString()
            ? left.asString().compareTo(right.asString())
            : left.isBoolean() ? Boolean.compare(left.asBoolean(), right.asBoolean()) : 0;
  }
}
