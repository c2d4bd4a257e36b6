package io.millrace.queues.search;

import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.ValueOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The number of results, their order and their fields.
 *
 * @param limit the maximum number of results, 1 to {@link #MOST}
 * @param skip how many results to skip first, from 0
 * @param sort the fields to sort by, the most important first
 * @param projection the fields of each result
 */
public record SearchOptions(int limit, int skip, List<SortKey> sort, Projection projection) {
  /** The maximum number of results of one search, and the default. */
  public static final int MOST = 100;

  /** The defaults: the first hundred by id. */
  public static final SearchOptions DEFAULTS =
      new SearchOptions(MOST, 0, List.of(), Projection.ALL);

  public SearchOptions {
    sort = List.copyOf(sort);
  }

  /**
   * A field to sort by.
   *
   * @param path the field
   * @param descending whether the greatest value comes first
   */
  public record SortKey(FieldPath path, boolean descending) {}

  /**
   * Reads {@code limit} (0 for the default, 100), {@code skip}, {@code sort} and {@code
   * projection}.
   *
   * @throws InvalidRequestException for anything else; the message names it
   */
  public static SearchOptions read(ObjectNode json) {
    int limit = MOST;
    int skip = 0;
    List<SortKey> sort = List.of();
    Projection projection = Projection.ALL;
    for (Map.Entry<String, JsonNode> option : json.properties()) {
      JsonNode value = option.getValue();
      if (value.isNull()) {
        continue;
      }
      switch (option.getKey()) {
        case "limit" -> limit = limit(value);
        case "skip" -> skip = number("skip", value);
        case "sort" -> sort = sort(value);
        case "projection" -> projection = Projection.read(value);
        default ->
            throw new InvalidRequestException("options", "unknown option " + option.getKey());
      }
    }
    return new SearchOptions(limit, skip, sort, projection);
  }

  private static int limit(JsonNode value) {
    if (value.isNumber() && ValueOrder.compareNumbers(value, IntNode.valueOf(MOST)) > 0) {
      throw new InvalidRequestException("limit", "limit cannot exceed " + MOST);
    }
    int limit = number("limit", value);
    return limit == 0 ? MOST : limit;
  }

  private static int number(String name, JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
      throw new InvalidRequestException(name, name + " must be a non-negative integer");
    }
    return value.intValue();
  }

  private static List<SortKey> sort(JsonNode value) {
    List<SortKey> keys = new ArrayList<>();
    for (Map.Entry<String, JsonNode> key : value.properties()) {
      JsonNode direction = key.getValue();
      boolean down = ValueOrder.equal(direction, IntNode.valueOf(-1));
      if (!down && !ValueOrder.equal(direction, IntNode.valueOf(1))) {
        throw new InvalidRequestException("sort", "sort by " + key.getKey() + " must be 1 or -1");
      }
      keys.add(new SortKey(FieldPath.of(key.getKey()), down));
    }
    if (!value.isObject()) {
      throw new InvalidRequestException("sort", "sort must be a name/value object");
    }
    return keys;
  }

  /** The same without skipping: all results up to the last one wanted. */
  SearchOptions fromStart() {
    return new SearchOptions(
        Math.toIntExact(Math.min(Integer.MAX_VALUE, (long) skip + limit)), 0, sort, projection);
  }

  /** Whether results are sorted by id, ascending or descending. */
  boolean isById() {
    return sort.isEmpty() || sort.getFirst().path().dotted().equals("_id");
  }

  /** Whether the order by id is descending, which is the newest first. */
  boolean newestFirst() {
    return !sort.isEmpty() && sort.getFirst().descending();
  }

  /** The order of results; equal tasks are sorted by id. */
  Comparator<QueueTask> order() {
    return (left, right) -> {
      for (SortKey key : sort) {
        int compared = ValueOrder.SORTED.compare(value(left, key), value(right, key));
        if (compared != 0) {
          return key.descending() ? -compared : compared;
        }
      }
      return left.id().compareTo(right.id());
    };
  }

  private static JsonNode value(QueueTask task, SortKey key) {
    List<JsonNode> values = key.path().values(TaskFilter.subject(task));
    return values.isEmpty() ? MissingNode.getInstance() : values.getFirst();
  }
}
