package io.millrace.client.queues;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.environment.DurationText;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Queues of a server and their tasks, which execution nodes run. A queue is named by its name or
 * id, a task by its id. Thread-safe; to be closed.
 *
 * <p>Every method throws a {@link io.millrace.store.StoreException}: {@link
 * io.millrace.client.RejectedException} if the server rejects the call, {@link
 * io.millrace.client.UnreachableException} if it cannot be reached and nothing changed, and {@link
 * io.millrace.store.OutcomeUnknownException} if the response to a change was lost. Submit with
 * {@link TaskOrder#withUnique} to be able to repeat a submission whose outcome is unknown.
 */
public final class QueueClient implements AutoCloseable {
  /** How many tasks a page has at most. */
  public static final int PAGE = 100;

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  /** A task that runs may write nothing for long; its output is followed until it ends. */
  private static final Duration LONGEST_SILENCE = Duration.ofDays(1);

  /** How many tasks one request waits for. */
  private static final int WAITED = 1_000;

  private final JsonCalls calls;

  private QueueClient(ClientOptions server) {
    calls = JsonCalls.open(server);
  }

  /** A client of the server that the options name. Connects on first use. */
  public static QueueClient open(ClientOptions server) {
    return new QueueClient(server);
  }

  /**
   * A queue.
   *
   * @param id its id
   * @param name its name
   * @param plugin the plugin that runs its tasks
   * @param threads how many of its tasks run at a time; null runs nothing
   * @param queued how many tasks wait or are held
   * @param running how many tasks run
   * @param completed how many tasks have finished
   * @param settings everything that the server says of it, by the names of docs/api.md
   */
  public record Queue(
      String id,
      String name,
      String plugin,
      @Nullable Integer threads,
      long queued,
      long running,
      long completed,
      JsonNode settings) {
    private static Queue of(JsonNode json) {
      JsonNode threads = json.path("threads");
      return new Queue(
          json.path("id").asString(),
          json.path("name").asString(),
          json.path("plugin").asString(),
          threads.isNumber() ? threads.asInt() : null,
          json.path("queued").asLong(),
          json.path("running").asLong(),
          json.path("completed").asLong(),
          json);
    }
  }

  /**
   * A task.
   *
   * @param id its id
   * @param queue the id of its queue
   * @param status its status: 1 for success, 2 and more for failures, 0 while it runs, -1 while it
   *     is claimed, -2 while it is queued, other negative ones while it is held; see docs/queues.md
   * @param params its params
   * @param node the node that has it, or had it last; null before the first
   * @param reason why it has this status; null if nothing has to be said
   * @param created when it was created
   * @param changed when its status changed last
   * @param all everything that the server says of it, by the names of docs/api.md
   */
  public record Task(
      String id,
      String queue,
      int status,
      JsonNode params,
      @Nullable String node,
      @Nullable String reason,
      Instant created,
      Instant changed,
      JsonNode all) {
    /** A larger number is in milliseconds, as a single task has them. */
    private static final double MAX_SECONDS = 9_999_999_999.0;

    private static Task of(JsonNode json) {
      return new Task(
          oid(json.path("_id")),
          oid(json.path("queue")),
          json.path("status").asInt(),
          json.path("params"),
          json.path("node").asString(null),
          json.path("reason").asString(null),
          time(json.path("ctime")),
          time(json.path("mtime")),
          json);
    }

    private static Instant time(JsonNode value) {
      boolean seconds = value.asDouble() <= MAX_SECONDS;
      return Instant.ofEpochMilli(seconds ? Math.round(value.asDouble() * 1e3) : value.asLong());
    }

    /** Whether it has ended well. */
    public boolean hasSucceeded() {
      return status == 1;
    }

    /** Whether it has finished, or is held until it is queued again. */
    public boolean isOver() {
      return status > 0 || status < -2;
    }
  }

  /**
   * A task that was submitted.
   *
   * @param id its id
   * @param duplicate whether it was there already, with the same unique key
   */
  public record SubmittedTask(String id, boolean duplicate) {}

  private static String path(String queue) {
    return "/dci/queues/" + JsonCalls.part(queue);
  }

  private static String task(String id) {
    return "/dci/tasks/id/" + JsonCalls.part(id);
  }

  /** The id of an answer, plain or as an object. */
  private static String oid(JsonNode json) {
    return json.path("$oid").asString(json.asString(""));
  }

  /** All queues, the oldest first. */
  public List<Queue> queues() {
    return calls.read("/dci/queues").valueStream().map(Queue::of).toList();
  }

  /** A queue. */
  public Queue queue(String queue) {
    return Queue.of(calls.read(path(queue)));
  }

  /**
   * Creates a queue and returns its id.
   *
   * @param plugin the plugin that runs its tasks, for example {@code shell}
   * @param settings further fields, for example {@code threads} (without it, nothing runs) and
   *     {@code attempts}
   */
  public String create(String name, String plugin, Map<String, ?> settings) {
    ObjectNode body = json(settings);
    return oid(calls.post("/dci/queues", body.put("name", name).put("plugin", plugin)).path("id"));
  }

  /** Changes settings of a queue; a null value unsets one. */
  public void change(String queue, Map<String, ? extends @Nullable Object> settings) {
    var _ = calls.post(path(queue), json(settings));
  }

  /** Deletes a queue. Its tasks are kept and do not run. */
  public void delete(String queue) {
    var _ = calls.delete(path(queue));
  }

  private static ObjectNode json(Object value) {
    return JSON.valueToTree(value) instanceof ObjectNode object
        ? object
        : refuse("this is no JSON object: " + value);
  }

  private static ObjectNode refuse(String message) {
    throw new IllegalArgumentException(message);
  }

  /**
   * Submits a task. It is stored when this returns.
   *
   * @param params becomes a JSON object, with at least one field: a map, a record, or JSON itself
   * @throws IllegalArgumentException if it does not
   */
  public SubmittedTask submit(String queue, Object params, TaskOrder order) {
    return submitAll(queue, List.of(params), order).getFirst();
  }

  /** The same with the defaults. */
  public SubmittedTask submit(String queue, Object params) {
    return submit(queue, params, TaskOrder.DEFAULT);
  }

  /** Submits a task for each of these, in order. Up to 4,000 tasks are created all or none. */
  public List<SubmittedTask> submitAll(String queue, List<?> params, TaskOrder order) {
    ArrayNode body = JSON.createArrayNode();
    params.forEach(each -> body.add(json(each)));
    String query =
        new TreeMap<>(order.settings())
            .entrySet().stream()
                .map(each -> each.getKey() + "=" + JsonCalls.part(each.getValue()))
                .collect(Collectors.joining("&"));
    JsonNode made =
        calls.post(
            "/dci/tasks/" + JsonCalls.part(queue) + (query.isEmpty() ? "" : "?" + query), body);
    JsonNode result = made.path("MongoDB::InsertManyResult");
    return (result.isMissingNode() ? made : result)
        .path("inserted")
        .valueStream()
        .map(each ->
            new SubmittedTask(oid(each.path("_id")), each.path("duplicate").asBoolean(false)))
        .toList();
  }

  /** A task with its output. */
  public Task find(String id) {
    return Task.of(calls.read(task(id)));
  }

  /**
   * Some tasks, in the order of their ids.
   *
   * @param tasks up to {@link #PAGE} of them
   * @param next where the next page begins; null for the last page
   */
  public record TaskPage(List<Task> tasks, @Nullable String next) {}

  /**
   * The tasks that a filter chooses, page by page, the oldest first.
   *
   * @param filter a query of MongoDB's form, see docs/api.md; empty for all tasks
   * @param after {@code next} of the page before; null for the first page
   */
  public TaskPage list(Map<String, ?> filter, @Nullable String after) {
    ObjectNode query = JSON.createObjectNode();
    ObjectNode chosen = json(filter);
    if (after == null) {
      query.set("filter", chosen);
    } else {
      ArrayNode both = query.putObject("filter").putArray("$and");
      both.add(chosen).addObject().putObject("_id").put("$gt", after);
    }
    query.putObject("options").put("limit", PAGE).putObject("sort").put("_id", 1);
    List<Task> tasks = calls.read("/dci/tasks/search", query).valueStream().map(Task::of).toList();
    return new TaskPage(tasks, tasks.size() < PAGE ? null : tasks.getLast().id());
  }

  /** How many tasks a filter chooses. */
  public long count(Map<String, ?> filter) {
    ObjectNode query = JSON.createObjectNode().put("count", true);
    query.set("filter", json(filter));
    return calls.read("/dci/tasks/search", query).path("count").asLong();
  }

  /**
   * Waits until a task is over.
   *
   * @throws TimeoutException if it is not over in time; it goes on
   */
  public Task await(String id, Duration timeout) throws InterruptedException, TimeoutException {
    var _ = await(List.of(id), timeout);
    return find(id);
  }

  /**
   * Waits until all tasks are over.
   *
   * @return their statuses, without tasks that do not exist
   * @throws TimeoutException if they are not over in time; they go on
   */
  public Map<String, Integer> await(Collection<String> ids, Duration timeout)
      throws InterruptedException, TimeoutException {
    long endNanos = System.nanoTime() + timeout.toNanos();
    Map<String, Integer> statuses = new HashMap<>();
    List<String> left = new ArrayList<>(ids);
    while (!left.isEmpty()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      List<String> part = left.subList(0, Math.min(left.size(), WAITED));
      Duration wait =
          Duration.ofNanos(Math.clamp(endNanos - System.nanoTime(), 0, LONGEST_WAIT.toNanos()));
      ObjectNode question = JSON.createObjectNode().put("timeout", wait.toMillis());
      part.forEach(question.putArray("ids")::add);
      JsonNode answer = calls.ask("/dci/tasks/wait", question, wait);
      if (answer.path("ended").asLong() >= answer.path("total").asLong()) {
        answer.path("tasks").properties().stream()
            .filter(each -> each.getValue().isNumber())
            .forEach(each -> statuses.put(each.getKey(), each.getValue().asInt()));
        part.clear();
      } else if (wait.isZero()) {
        throw new TimeoutException(
            left.size() + " tasks are not over in " + DurationText.show(timeout));
      }
    }
    return statuses;
  }

  /** An output of a task. */
  public enum Output {
    /** Its standard output. */
    STDOUT,
    /** Its standard error. */
    STDERR,
    /** Both, if the task asks for that. */
    MIXEDOUT
  }

  /**
   * What a task has written so far.
   *
   * @param follow whether to go on until it is over
   * @return the bytes, as they arrive; to be closed
   */
  public InputStream output(String id, Output output, boolean follow) {
    String query = follow ? "?follow=true" : "";
    return calls.stream(
        task(id) + "/" + output.name().toLowerCase(Locale.ROOT) + query, LONGEST_SILENCE);
  }

  /** Cancels a task that has not started: it is held. Returns it. */
  public Task cancel(String id) {
    return act(id, "cancel");
  }

  /** Ends a task, also a running one. Returns it. */
  public Task terminate(String id) {
    return act(id, "terminate");
  }

  /** Queues a task again that is over. Returns it. */
  public Task retry(String id) {
    return act(id, "requeue");
  }

  private Task act(String id, String action) {
    return Task.of(calls.post(task(id) + "/" + action, JSON.createObjectNode()));
  }

  @Override
  public void close() {
    calls.close();
  }
}
