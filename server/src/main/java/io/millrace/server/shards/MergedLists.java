package io.millrace.server.shards;

import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.archive.ArchiveTable;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.server.schedules.ScheduleOrder;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes one answer of those of all shards, for each route whose answer concerns all of them, in the
 * form, the order and the pages of the route. Each shard is asked for the page that is wanted of
 * all, so a merged page has the first of what they answer, and its last element is the cursor for
 * every shard. Elements with the same place in the order are shown in the order of their shards; a
 * page that would end between two of them is refused, since the next one would leave out the
 * second.
 *
 * <p>A merge throws {@link tools.jackson.core.JacksonException} or {@link
 * java.time.DateTimeException} if an answer does not have the form of the route.
 */
final class MergedLists {
  /** Which shards have to answer. */
  enum Need {
    /** Each shard has to have an answer. */
    EVERY,
    /** At least one has to have an answer, and the others have to say that they have none. */
    KNOWN,
    /** One with an answer is enough. */
    ONE
  }

  /** Makes one answer of those of shards. */
  @FunctionalInterface
  interface Merge {
    /**
     * The answer.
     *
     * @param query that of the request
     * @param answers at least one, in the order of their shards
     * @throws HttpProblem 400 if they cannot be merged
     */
    JsonNode of(Query query, List<JsonNode> answers);
  }

  /**
   * How the answers to a route are merged.
   *
   * @param need which shards have to answer
   */
  record Rule(Need need, Merge merge) {}

  private static final Comparator<JsonNode> BY_ID = byText("id");
  private static final Comparator<JsonNode> BY_NAME = byText("name");
  private static final Comparator<JsonNode> BY_NUMBER =
      Comparator.comparingLong(element -> element.required("id").asLong());
  private static final Comparator<JsonNode> BY_END =
      Comparator.comparing(MergedLists::end).thenComparing(byText(ArchiveTable.ID));

  private static final Comparator<JsonNode> BY_LAST_SEEN =
      Comparator.comparing(MergedLists::lastSeen);

  /** The page of a list that names none. */
  private static final int PAGE = 100;

  private static final int BATCHES_PAGE = 1_000;

  /** What {@code /retention/jobs} shows for jobs without a type, before all types. */
  private static final String UNTYPED = "-";

  private static final Map<String, Rule> RULES = rules();

  private MergedLists() {}

  private static Map<String, Rule> rules() {
    Map<String, Merge> every = new HashMap<>();
    every.put("GET /dci/nodes", (_, answers) -> array(nodes(elements(answers))));
    every.put("GET /dci/config", MergedLists::same);
    every.put("GET /dci/queues", (_, answers) -> listed(answers, BY_ID));
    every.put("GET /dci/scheduler-json", (_, answers) -> listed(answers, BY_ID));
    every.put("GET /dci/queue-prototypes-json", MergedLists::names);
    every.put("POST /dci/queue-prototypes-json", MergedLists::names);
    every.put("GET /dci/plugins", MergedLists::strings);
    every.put("GET /api/types", MergedLists::types);
    every.put("GET /api/jobs", MergedLists::jobs);
    every.put("GET /api/batches", MergedLists::batches);
    every.put("GET /api/workers", MergedLists::workers);
    every.put("GET /v1/running", (_, answers) -> array(elements(answers).toList()));
    every.put("GET /schedules", MergedLists::schedules);
    every.put("GET /bulk", pages("actions", BY_ID.reversed(), text("id")));
    every.put("GET /limits", MergedLists::limits);
    for (ArchiveTable table : ArchiveTable.values()) {
      every.put("GET /archive/" + table.word(), archived(table.word()));
    }
    every.put("GET /retention/jobs", MergedLists::retention);
    every.put("GET /history", MergedLists::history);
    Map<String, Merge> one = new HashMap<>();
    one.put("GET /dci/plugins/{plugin}", (_, answers) -> answers.getFirst());
    one.put("GET /api/batches/{batch}", MergedLists::single);
    one.put("GET /api/batches/{batch}/jobs", MergedLists::single);
    one.put("GET /api/batches/{batch}/wait", MergedLists::single);
    one.put("GET /api/workers/{id}", (_, answers) -> Collections.max(answers, BY_LAST_SEEN));
    Map<String, Rule> rules = new HashMap<>();
    every.forEach((route, merge) -> rules.put(route, new Rule(Need.EVERY, merge)));
    one.forEach((route, merge) -> rules.put(route, new Rule(Need.ONE, merge)));
    rules.put(
        "GET /dci/nodes/{node}",
        new Rule(Need.KNOWN, (_, answers) -> nodes(answers.stream()).getFirst()));
    return Map.copyOf(rules);
  }

  /** How the answers to a route, a method and a path as in docs/routes.md, are merged. */
  static @Nullable Rule rule(String methodAndPath) {
    return RULES.get(methodAndPath);
  }

  /** The routes that can be merged. */
  static Set<String> routes() {
    return RULES.keySet();
  }

  /** What cannot be answered for all shards, but for each of them: 400. */
  static HttpProblem nameOne(String reason) {
    return HttpProblem.malformed(reason + "; name one shard: /shards/K/…");
  }

  // ---- lists in an order

  private static Comparator<JsonNode> byText(String field) {
    return Comparator.comparing(text(field));
  }

  private static Function<JsonNode, String> text(String field) {
    return element -> element.required(field).asString();
  }

  private static Instant end(JsonNode row) {
    return Instant.parse(row.required(ArchiveTable.FINISHED).asString());
  }

  private static long limit(Query query, int usual) {
    return query.integer("limit", usual, 1, Integer.MAX_VALUE);
  }

  private static Stream<JsonNode> elements(List<JsonNode> lists) {
    return lists.stream().flatMap(list -> list.asArray().valueStream());
  }

  /** The lists that answers have in a field. */
  private static List<JsonNode> of(List<JsonNode> answers, String field) {
    return answers.stream().map(answer -> answer.required(field)).toList();
  }

  private static ArrayNode array(List<JsonNode> elements) {
    return Json.array().addAll(elements);
  }

  private static ArrayNode listed(List<JsonNode> lists, Comparator<JsonNode> order) {
    return array(sorted(lists, order, Long.MAX_VALUE));
  }

  /** The first elements of lists in an order. */
  private static List<JsonNode> sorted(
      List<JsonNode> lists, Comparator<JsonNode> order, long limit) {
    List<JsonNode> all = elements(lists).sorted(order).toList();
    if (all.size() == 1) {
      // An element alone is not compared, but has to have its place in the order too.
      int _ = order.compare(all.getFirst(), all.getFirst());
    }
    return cut(all, order, limit);
  }

  private static List<JsonNode> cut(List<JsonNode> all, Comparator<JsonNode> order, long limit) {
    if (all.size() <= limit) {
      return all;
    }
    int end = (int) limit;
    if (order.compare(all.get(end - 1), all.get(end)) == 0) {
      throw nameOne(
          "two shards have something with the same id or name, and the page would end between"
              + " them");
    }
    return all.subList(0, end);
  }

  /** A list in a field, with the cursor of the next page. */
  private static ObjectNode page(
      String field, List<JsonNode> page, long limit, Function<JsonNode, String> cursor) {
    ObjectNode merged = Json.object();
    merged.set(field, array(page));
    return merged.put("next", page.size() == limit ? cursor.apply(page.getLast()) : null);
  }

  private static Merge pages(
      String field, Comparator<JsonNode> order, Function<JsonNode, String> cursor) {
    return (query, answers) -> {
      long limit = limit(query, PAGE);
      return page(field, sorted(of(answers, field), order, limit), limit, cursor);
    };
  }

  /** Rows of the archive, which shards may share: each row once. */
  private static Merge archived(String field) {
    return (query, answers) -> {
      Comparator<JsonNode> order =
          query.text("order").orElse("newest").equals("newest") ? BY_END.reversed() : BY_END;
      Map<String, JsonNode> rows = new LinkedHashMap<>();
      elements(of(answers, field))
          .sorted(order)
          .forEach(row -> rows.putIfAbsent(row.required(ArchiveTable.ID).asString(), row));
      long limit = limit(query, PAGE);
      return page(
          field,
          cut(List.copyOf(rows.values()), order, limit),
          limit,
          row -> new Cursor(end(row).toEpochMilli(), text(ArchiveTable.ID).apply(row)).text());
    };
  }

  private static JsonNode schedules(Query query, List<JsonNode> answers) {
    ScheduleOrder order = ScheduleOrder.of(query);
    return pages("schedules", order.comparator(), order::place).of(query, answers);
  }

  private static JsonNode jobs(Query query, List<JsonNode> answers) {
    long limit = query.integer("limit", 0, 0, Integer.MAX_VALUE);
    Comparator<JsonNode> order = isNewestFirst(query) ? BY_ID.reversed() : BY_ID;
    return array(sorted(answers, order, limit == 0 ? Long.MAX_VALUE : limit));
  }

  private static boolean isNewestFirst(Query query) {
    return query.text("order").orElse("").equals("newest");
  }

  private static JsonNode batches(Query query, List<JsonNode> answers) {
    Comparator<JsonNode> order = isNewestFirst(query) ? BY_NUMBER.reversed() : BY_NUMBER;
    return array(sorted(answers, order, limit(query, BATCHES_PAGE)));
  }

  private static JsonNode limits(Query query, List<JsonNode> answers) {
    return Json.object().set("limits", listed(of(answers, "limits"), BY_NAME));
  }

  // ---- what several shards have together

  private static JsonNode same(Query query, List<JsonNode> answers) {
    JsonNode first = answers.getFirst();
    if (!answers.stream().allMatch(first::equals)) {
      throw new HttpProblem(
          409,
          "shards have different values, since a change has not reached all of them: make it again,"
              + " or look at each shard below /shards/K/");
    }
    return first;
  }

  private static JsonNode single(Query query, List<JsonNode> answers) {
    if (answers.size() > 1) {
      throw nameOne("%d shards have one with this id".formatted(answers.size()));
    }
    return answers.getFirst();
  }

  private static JsonNode strings(Query query, List<JsonNode> answers) {
    TreeSet<String> all = new TreeSet<>();
    elements(answers).forEach(name -> all.add(name.asString()));
    ArrayNode merged = Json.array();
    all.forEach(merged::add);
    return merged;
  }

  private static JsonNode names(Query query, List<JsonNode> answers) {
    TreeMap<String, JsonNode> all = new TreeMap<>();
    answers.forEach(answer ->
        answer.asObject().properties().forEach(it -> all.put(it.getKey(), it.getValue())));
    return Json.object().setAll(all);
  }

  /**
   * The execution nodes by name. A node is known to each shard: the last sign of life counts, and
   * its id and its limit are those of the first shard that knows it.
   */
  private static List<JsonNode> nodes(Stream<JsonNode> all) {
    TreeMap<String, JsonNode> byName = new TreeMap<>();
    all.forEach(node -> byName.merge(text("node").apply(node), node, MergedLists::node));
    return List.copyOf(byName.values());
  }

  private static JsonNode node(JsonNode first, JsonNode other) {
    boolean newer = other.required("timestamp").asLong() > first.required("timestamp").asLong();
    ObjectNode merged = (newer ? other : first).asObject().deepCopy();
    for (String field : List.of("_id", "id", "maxthreads")) {
      merged.set(field, first.required(field));
    }
    return merged;
  }

  /** The types, which all shards have, each with its jobs in all and its settings where any are. */
  private static JsonNode types(Query query, List<JsonNode> answers) {
    Map<String, JsonNode> byName = new LinkedHashMap<>();
    elements(answers)
        .forEach(type -> byName.merge(text("name").apply(type), type, MergedLists::type));
    return array(List.copyOf(byName.values()));
  }

  private static JsonNode type(JsonNode first, JsonNode other) {
    boolean isSet = first.required("set").isEmpty() && !other.required("set").isEmpty();
    ObjectNode merged = (isSet ? other : first).asObject().deepCopy();
    ObjectNode jobs = merged.putObject("jobs");
    first
        .required("jobs")
        .properties()
        .forEach(status ->
            jobs.put(
                status.getKey(),
                status.getValue().asLong()
                    + other.required("jobs").required(status.getKey()).asLong()));
    return merged;
  }

  private static JsonNode retention(Query query, List<JsonNode> answers) {
    TreeMap<String, JsonNode> byType = new TreeMap<>();
    elements(of(answers, "types"))
        .forEach(type -> {
          String name = text("type").apply(type);
          byType.merge(
              name.equals(UNTYPED) ? "" : name,
              type,
              (first, other) ->
                  first.hasNonNull("keep_finished") || first.hasNonNull("keep_count")
                      ? first
                      : other);
        });
    return Json.object().set("types", array(List.copyOf(byType.values())));
  }

  /** Those that are connected, and then the others in the order in which they went. */
  private static JsonNode workers(Query query, List<JsonNode> answers) {
    Comparator<JsonNode> order =
        Comparator.<JsonNode, Instant>comparing(
            worker -> isConnected(worker) ? Instant.MIN : lastSeen(worker));
    return listed(answers, order);
  }

  private static boolean isConnected(JsonNode worker) {
    return !worker.required("state").asString().equals("disconnected");
  }

  private static Instant lastSeen(JsonNode worker) {
    JsonNode seen = worker.required("lastSeen");
    return seen.isNull() ? Instant.MIN : Instant.parse(seen.asString());
  }

  // ---- figures

  /**
   * The sums of the figures of all shards, at the times at which each shard has a sample: in each
   * interval the last sample of each, and at the end the newest of each, which they have read for
   * this request. Each sum is of samples that are later than those of the sum before, so counts
   * grow. They begin with the start of the history that started last.
   */
  private static JsonNode history(Query query, List<JsonNode> answers) {
    JsonNode interval = answers.getFirst().required("interval_seconds");
    List<List<Integer>> rows = rows(answers, interval.asLong() * 1_000);
    ObjectNode merged = Json.object();
    merged.put(
        "started",
        answers.stream()
            .map(answer -> Instant.parse(answer.required("started").asString()))
            .max(Comparator.naturalOrder())
            .orElseThrow()
            .toString());
    merged.set("interval_seconds", interval);
    ArrayNode times = merged.putArray("at");
    rows.forEach(row -> times.add(time(answers, row)));
    if (rows.isEmpty()) {
      return merged;
    }
    for (Map.Entry<String, JsonNode> kind : answers.getFirst().properties()) {
      if (kind.getValue() instanceof ObjectNode columns) {
        ObjectNode shown = merged.putObject(kind.getKey());
        for (String column : columns.propertyNames()) {
          ArrayNode sums = shown.putArray(column);
          rows.forEach(row -> sums.add(sum(answers, row, kind.getKey(), column)));
        }
      }
    }
    return merged;
  }

  /** The samples of each sum: for each shard the index of its sample. */
  private static List<List<Integer>> rows(List<JsonNode> answers, long intervalMillis) {
    List<List<Integer>> rows = new ArrayList<>();
    List<TreeMap<Long, Integer>> before = new ArrayList<>();
    List<Integer> newest = new ArrayList<>();
    for (JsonNode answer : answers) {
      ArrayNode at = answer.required("at").asArray();
      if (at.isEmpty()) {
        return rows;
      }
      TreeMap<Long, Integer> byInterval = new TreeMap<>();
      for (int i = 0; i < at.size() - 1; i++) {
        byInterval.put(at.get(i).asLong() / intervalMillis, i);
      }
      before.add(byInterval);
      newest.add(at.size() - 1);
    }
    for (long number : before.getFirst().keySet()) {
      if (before.stream().allMatch(samples -> samples.containsKey(number))) {
        rows.add(before.stream().map(samples -> samples.get(number)).toList());
      }
    }
    // A shard that could not read its figures now has only older ones.
    long latest = time(answers, newest);
    for (int i = 0; i < newest.size(); i++) {
      if (latest - answers.get(i).required("at").required(newest.get(i)).asLong()
          >= intervalMillis) {
        return rows;
      }
    }
    rows.add(newest);
    return rows;
  }

  private static long time(List<JsonNode> answers, List<Integer> row) {
    long latest = 0;
    for (int i = 0; i < row.size(); i++) {
      latest = Math.max(latest, answers.get(i).required("at").required(row.get(i)).asLong());
    }
    return latest;
  }

  private static BigDecimal sum(
      List<JsonNode> answers, List<Integer> row, String kind, String column) {
    BigDecimal sum = BigDecimal.ZERO;
    for (int i = 0; i < row.size(); i++) {
      JsonNode samples = answers.get(i).required(kind).required(column);
      sum = sum.add(samples.required(row.get(i)).asDecimal());
    }
    BigDecimal shortest = sum.stripTrailingZeros();
    return shortest.scale() < 0 ? shortest.setScale(0) : shortest;
  }
}
