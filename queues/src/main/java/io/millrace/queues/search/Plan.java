package io.millrace.queues.search;

import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveQuery.Condition.AtLeast;
import io.millrace.archive.ArchiveQuery.Condition.OneOf;
import io.millrace.archive.ArchiveTable;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Status;
import io.millrace.queues.registry.TaskIndex.KindCounts;
import io.millrace.queues.registry.TaskIndex.TaskKind;
import io.millrace.work.filter.Condition;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.ValueOrder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * What a filter implies for the tasks that can match.
 *
 * @param ids the only tasks that can match; null if it names none
 * @param queues the only queues whose tasks can match; null for all
 * @param after only tasks with greater ids can match; empty for all
 * @param before only tasks with smaller ids can match; empty for all
 * @param kinds which part of each kind can match
 * @param exact whether a task of these queues matches if and only if its status does
 */
record Plan(
    @Nullable Set<String> ids,
    @Nullable Set<String> queues,
    String after,
    String before,
    Map<TaskKind, Cover> kinds,
    boolean exact) {

  /** The most values of a condition of the archive. */
  private static final int MAX_QUEUES = 1_000;

  static Plan of(Filter filter) {
    List<Filter.OfField> parts = new ArrayList<>();
    boolean exact = flatten(filter, parts);
    Set<String> ids = null;
    Set<String> queues = null;
    String after = "";
    String before = "";
    List<Condition> statuses = new ArrayList<>();
    for (Filter.OfField part : parts) {
      String field = part.path().dotted();
      if (field.equals("status") && !(part.condition() instanceof Condition.Contains)) {
        statuses.add(part.condition());
      } else if (part.condition() instanceof Condition.OneOf(List<JsonNode> wanted)
          && field.equals("queue")) {
        queues = narrowed(queues, wanted);
      } else {
        exact = false;
        if (part.condition() instanceof Condition.OneOf(List<JsonNode> wanted)
            && field.equals("_id")) {
          ids = narrowed(ids, wanted);
        } else if (field.equals("_id")) {
          after = later(after, part.condition());
          before = earlier(before, part.condition());
        }
      }
    }
    return new Plan(ids, queues, after, before, Cover.of(statuses), exact);
  }

  /**
   * Collects the conditions on single fields that must hold; returns whether they are the whole
   * filter.
   */
  private static boolean flatten(Filter filter, List<Filter.OfField> parts) {
    return switch (filter) {
      case Filter.OfField field -> parts.add(field);
      case Filter.Any _ -> false;
      case Filter.Every(List<Filter> filters) -> {
        boolean all = true;
        for (Filter each : filters) {
          all &= flatten(each, parts);
        }
        yield all;
      }
    };
  }

  private static Set<String> narrowed(@Nullable Set<String> known, List<JsonNode> wanted) {
    Set<String> named =
        wanted.stream()
            .filter(JsonNode::isString)
            .map(JsonNode::asString)
            .collect(Collectors.toCollection(TreeSet::new));
    if (known != null) {
      named.retainAll(known);
    }
    return named;
  }

  private static String later(String after, Condition condition) {
    String limit = limit(condition, Condition.Relation.GREATER);
    return limit.compareTo(after) > 0 ? limit : after;
  }

  private static String earlier(String before, Condition condition) {
    String limit = limit(condition, Condition.Relation.LESS);
    return !limit.isEmpty() && (before.isEmpty() || limit.compareTo(before) < 0) ? limit : before;
  }

  /** The id to which ids are compared; empty if they are not. */
  private static String limit(Condition condition, Condition.Relation relation) {
    return condition instanceof Condition.Compared(Condition.Relation actual, JsonNode limit)
            && actual == relation
            && limit.isString()
        ? limit.asString()
        : "";
  }

  /** What the filter implies for the columns of archived tasks. */
  List<ArchiveQuery.Condition> columns() {
    List<ArchiveQuery.Condition> columns = new ArrayList<>();
    if (queues != null && queues.size() <= MAX_QUEUES) {
      columns.add(new OneOf("queue_id", queues));
    }
    if (!after.isEmpty()) {
      columns.add(new AtLeast(ArchiveTable.ID, after));
    }
    return columns;
  }

  boolean has(ObjectId queue) {
    return queues == null || queues.contains(queue.hex());
  }

  Cover cover(TaskKind kind) {
    return kinds.getOrDefault(kind, Cover.NONE);
  }

  boolean hasPart() {
    return kinds.containsValue(Cover.PART);
  }

  /** The number of tasks in the kinds with these covers. */
  long candidates(Map<ObjectId, KindCounts> counts, Set<Cover> covers) {
    long sum = 0;
    for (Map.Entry<ObjectId, KindCounts> entry : counts.entrySet()) {
      for (TaskKind kind : TaskKind.values()) {
        if (has(entry.getKey()) && covers.contains(cover(kind))) {
          sum += entry.getValue().of(kind);
        }
      }
    }
    return sum;
  }

  /** Which part of a kind of tasks can satisfy the conditions on the status. */
  enum Cover {
    /** Nothing. */
    NONE,
    /** Some status codes and not others. */
    PART,
    /** Everything. */
    ALL;

    /**
     * The cover of each kind. Conditions only compare with constants, so their result changes only
     * at those: it is enough to test each constant with its neighbours, and the ends of each kind.
     */
    static Map<TaskKind, Cover> of(List<Condition> conditions) {
      TreeSet<Integer> samples = new TreeSet<>(List.of(Integer.MIN_VALUE, Integer.MAX_VALUE));
      for (int status = Status.TERMINATED; status <= Status.SUCCEEDED; status++) {
        samples.add(status);
      }
      for (Condition condition : conditions) {
        condition.constants(constant -> addAround(samples, constant));
      }
      Map<TaskKind, Cover> covers = new EnumMap<>(TaskKind.class);
      for (int status : samples) {
        List<JsonNode> value = List.of(JsonNodeFactory.instance.numberNode(status));
        boolean satisfied = conditions.stream().allMatch(condition -> condition.test(value));
        Cover cover = satisfied ? ALL : NONE;
        covers.merge(TaskKind.of(status), cover, (old, next) -> old == next ? old : PART);
      }
      return covers;
    }

    private static void addAround(Set<Integer> samples, JsonNode constant) {
      if (!constant.isNumber()) {
        return;
      }
      double number = ValueOrder.approximate(constant);
      if (Math.abs(number) > Integer.MAX_VALUE - 2) {
        return;
      }
      int floor = (int) Math.floor(number);
      for (int status = floor - 1; status <= floor + 2; status++) {
        samples.add(status);
      }
    }
  }
}
