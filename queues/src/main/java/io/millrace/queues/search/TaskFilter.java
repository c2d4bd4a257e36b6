package io.millrace.queues.search;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.FilterException;
import io.millrace.work.filter.FilterFields;
import io.millrace.work.filter.RelativeTimes;
import io.millrace.work.filter.Subject;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Filters on queue tasks and on the documents of users. */
public final class TaskFilter {
  private static final Set<String> IDS = Set.of("_id", "queue");
  private static final Set<String> TIMES = Set.of("ctime", "mtime", "started");

  private TaskFilter() {}

  /**
   * Reads a filter on tasks: {@code _id} and {@code queue} are ids, as plain strings or as {@code
   * {"$oid": …}}; times are milliseconds or {@code {"$date": …}}.
   *
   * @throws InvalidRequestException if something in it is unknown; the message names it
   */
  public static Filter of(ObjectNode json) {
    return read(json, given -> Filter.read(given, TaskFilter::value));
  }

  /**
   * The same with times such as {@code {"$ago": "2h"}}, which count back from {@code now}, and with
   * names of queues beside their ids.
   *
   * @param named finds the id of a queue by its name
   */
  public static Filter of(
      ObjectNode json, Instant now, Function<String, Optional<ObjectId>> named) {
    return read(
        json,
        given ->
            Filter.read(
                RelativeTimes.resolve(given, now), (field, value) -> value(field, value, named)));
  }

  /**
   * Reads a filter on any documents.
   *
   * @throws InvalidRequestException if something in it is unknown; the message names it
   */
  public static Filter onDocuments(ObjectNode json) {
    return read(json, given -> Filter.read(given, FilterFields.ANY));
  }

  private static Filter read(ObjectNode json, Function<ObjectNode, Filter> reader) {
    try {
      return reader.apply(json);
    } catch (FilterException e) {
      throw new InvalidRequestException("filter", String.valueOf(e.getMessage()));
    }
  }

  static JsonNode value(String field, JsonNode value) {
    if (value.isNumber() && TIMES.contains(field)) {
      return FilterFields.time(value);
    }
    if (value.isString() && IDS.contains(field) && !ObjectId.isValid(value.asString())) {
      throw new FilterException("Bad OID passed: " + value);
    }
    return value;
  }

  /** The same; a text that is no id of a queue is its name. */
  static JsonNode value(String field, JsonNode value, Function<String, Optional<ObjectId>> named) {
    if (!value.isString() || !IDS.contains(field) || ObjectId.isValid(value.asString())) {
      return value(field, value);
    }
    // The first words are those of Disbatch, which its clients may look for.
    String wrong = "Bad OID passed: " + value;
    if (!field.equals("queue")) {
      throw new FilterException(wrong + "; " + field + " must be the id of a task");
    }
    return named
        .apply(value.asString())
        .<JsonNode>map(id -> JsonNodeFactory.instance.stringNode(id.hex()))
        .orElseThrow(() ->
            new FilterException(
                wrong
                    + "; queue must be the id or the name of a queue, and there is no queue "
                    + value.asString()));
  }

  /** What a filter is applied to; ids are strings, times are milliseconds. */
  public static Subject subject(QueueTask task) {
    return name -> taskField(task, name);
  }

  private static @Nullable JsonNode taskField(QueueTask task, String name) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    return switch (name) {
      case "_id" -> json.stringNode(task.id().hex());
      case "queue" -> json.stringNode(task.queue().hex());
      case "status" -> json.numberNode(task.status());
      case "node" -> textOrNull(task.progress().node());
      case "ctime" -> json.numberNode(task.ctimeMillis());
      case "mtime" -> json.numberNode(task.progress().mtimeMillis());
      case "params" -> task.params();
      case "stdout" -> output(task.output().stdout());
      case "stderr" -> output(task.output().stderr());
      case "mixedout" -> output(task.output().mixed());
      case "reason" ->
          task.progress().reason() == null ? null : textOrNull(task.progress().reason());
      case "orphaned" -> json.numberNode(task.progress().orphaned());
      case "attempt" -> json.numberNode(task.progress().attempt());
      case "snoozed" -> json.numberNode(task.progress().retries().snoozed());
      case "tags" -> FilterFields.texts(task.policy().tags());
      case "not_before" -> json.numberNode(task.progress().retries().notBeforeMillis());
      case "started" -> json.numberNode(task.progress().retries().startedMillis());
      default -> null;
    };
  }

  private static JsonNode output(Output output) {
    return switch (output) {
      case Output.None() -> JsonNodeFactory.instance.nullNode();
      case Output.Text(String text) -> JsonNodeFactory.instance.stringNode(text);
      case Output.Stored stored -> JsonNodeFactory.instance.stringNode(stored.file().hex());
    };
  }

  private static JsonNode textOrNull(@Nullable String text) {
    return text == null
        ? JsonNodeFactory.instance.nullNode()
        : JsonNodeFactory.instance.stringNode(text);
  }
}
