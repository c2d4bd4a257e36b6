package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.Status;
import io.millrace.queues.search.Projection;
import io.millrace.queues.search.TaskFinder.Found;
import io.millrace.work.policy.Deadlines;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JacksonSerializable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of queues, nodes and tasks. */
record Shapes(OutputReader outputs) {
  /** The most bytes of one output in a file that a search shows. */
  static final long MAX_FILE_BYTES = 64L << 20;

  /** The most bytes of outputs in files that one response to a search shows. */
  static final long MAX_ANSWER_BYTES = 256L << 20;

  /** Replaces output in terse responses. */
  private static final String TERSE = "[terse mode]";

  private static final BigDecimal SECOND_MILLIS = BigDecimal.valueOf(1_000);

  /** A queue without its counts. */
  static ObjectNode of(Queue queue) {
    return shape(queue, null);
  }

  static ObjectNode of(Queue queue, Queue.Counts counts) {
    return shape(queue, counts);
  }

  private static ObjectNode shape(Queue queue, Queue.@Nullable Counts counts) {
    Queue.Settings settings = queue.settings();
    ObjectNode json = Json.object();
    json.put("id", queue.id().hex());
    json.put("plugin", queue.plugin());
    json.put("name", queue.name());
    json.put("threads", settings.threads());
    if (counts != null) {
      json.put("queued", counts.queued());
      json.put("running", counts.running());
      json.put("completed", counts.completed());
    }
    json.put("sort", settings.sort().word());
    json.set("nodes_pin", strings(settings.nodesPin()));
    json.set("nodes_ignore", strings(settings.nodesIgnore()));
    json.put("requeue_orphans", settings.requeueOrphans());
    settings.policy().fields().forEach((field, text) -> setting(json, field, text));
    Queue.Health.Halt halt = queue.health().halt();
    if (halt == null) {
      json.putNull("halted");
    } else {
      trouble(json.putObject("halted"), halt.node(), halt.reason(), halt.atMillis())
          .put("threads", halt.threads());
    }
    ArrayNode suspended = json.putArray("suspended");
    for (Queue.Health.Suspension each : queue.health().suspensions()) {
      trouble(suspended.addObject(), each.node(), each.reason(), each.atMillis());
    }
    return json;
  }

  /** A setting that is not the default, as a number if it is one. */
  private static void setting(ObjectNode json, String field, String text) {
    if (Policy.Field.of(field).filter(Policy.Field::isNumber).isPresent()) {
      json.put(field, new BigDecimal(text));
    } else {
      json.put(field, text);
    }
  }

  private static ObjectNode trouble(ObjectNode json, String node, String reason, long atMillis) {
    return json.put("node", node).put("reason", reason).put("timestamp", atMillis);
  }

  /** A node, at a store time. */
  static ObjectNode of(NodeRecord node, long nowMillis) {
    ObjectNode json = Json.object();
    json.set("_id", id(node.id()));
    json.put("id", node.id().hex());
    json.put("node", node.name());
    json.put("timestamp", node.timestampMillis());
    json.put("maxthreads", node.maxthreads());
    json.put("state", node.stateAt(nowMillis).name().toLowerCase(Locale.ROOT));
    NodeIdentity presence = node.presence();
    if (presence != null) {
      json.put("host", presence.host());
      json.set("plugins", strings(presence.plugins()));
    }
    return json;
  }

  /** How an output of a task is shown. */
  @FunctionalInterface
  interface OutputForm {
    void put(ObjectNode json, String field, Output output);
  }

  /** The output; of a file that is not shown as text, its id. */
  OutputForm full() {
    return (json, field, output) -> {
      if (output instanceof Output.Stored stored && stored.shownAsText()) {
        json.put(field, outputs.text(stored).orElse(null));
      } else {
        inline(json, field, output);
      }
    };
  }

  /** Only whether there is output; of a file that is not shown as text, its id. */
  static OutputForm terse() {
    return (json, field, output) -> {
      boolean shown =
          output instanceof Output.Text(String text)
              ? !text.isEmpty()
              : output instanceof Output.Stored stored && stored.shownAsText();
      if (shown) {
        json.put(field, TERSE);
      } else {
        inline(json, field, output);
      }
    };
  }

  /** The same in version 3, which also shows this if there is no output. */
  static OutputForm terseBefore4() {
    return (json, field, output) -> {
      if (output instanceof Output.Stored stored && !stored.shownAsText()) {
        inline(json, field, output);
      } else {
        json.put(field, TERSE);
      }
    };
  }

  /**
   * All output, read while the response is written. The id is shown instead of a file that no
   * longer exists, has more than {@link #MAX_FILE_BYTES}, or would exceed {@link #MAX_ANSWER_BYTES}
   * together with those before it. For one response, on one thread.
   */
  OutputForm content() {
    AtomicLong left = new AtomicLong(MAX_ANSWER_BYTES);
    return (json, field, output) -> {
      if (output instanceof Output.Stored stored
          && (stored.shownAsText()
              || (stored.sizeBytes() <= MAX_FILE_BYTES && stored.sizeBytes() <= left.get()))) {
        Optional<Reader> text = outputs.open(stored);
        if (text.isPresent()) {
          left.addAndGet(stored.shownAsText() ? 0 : -stored.sizeBytes());
          json.set(field, Json.MAPPER.getNodeFactory().pojoNode(new StreamedText(text.get())));
          return;
        }
      }
      inline(json, field, output);
    };
  }

  /** Throws an exception if {@link #content} cannot show the outputs of these tasks here. */
  void check(List<Found> found, Projection wanted) {
    for (Found each : found) {
      QueueTask.TaskOutput output = each.task().output();
      for (OutputReader.Stream stream : OutputReader.Stream.values()) {
        if (wanted.wants(stream.word())) {
          outputs.check(stream.of(output));
        }
      }
    }
  }

  /** Text that is read when it is written. */
  private record StreamedText(Reader text) implements JacksonSerializable {
    @Override
    public void serialize(JsonGenerator json, SerializationContext context) {
      try (Reader from = text) {
        json.writeString(from, -1);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void serializeWithType(
        JsonGenerator json, SerializationContext context, TypeSerializer types) {
      serialize(json, context);
    }
  }

  private static void inline(ObjectNode json, String field, Output output) {
    switch (output) {
      case Output.None() -> json.putNull(field);
      case Output.Text(String text) -> json.put(field, text);
      case Output.Stored stored -> json.set(field, id(stored.file()));
    }
  }

  /** The form of the times of a task. */
  enum Times {
    /** Milliseconds since the epoch. */
    MILLIS,
    /** Seconds since the epoch, with decimals. */
    SECONDS,
    /** Whole seconds since the epoch, with their text beside them, as version 3 has them. */
    WHOLE_SECONDS;

    private void put(ObjectNode json, String field, long millis) {
      switch (this) {
        case MILLIS -> json.put(field, millis);
        case SECONDS -> json.put(field, BigDecimal.valueOf(millis).divide(SECOND_MILLIS));
        case WHOLE_SECONDS -> {
          json.put(field, Math.floorDiv(millis, 1000));
          json.put(field + "_str", Instant.ofEpochMilli(millis).toString());
        }
      }
    }
  }

  /** A task, with a field that says so if it is archived. */
  static ObjectNode of(Found found, OutputForm form, Times times, Projection wanted) {
    QueueTask task = found.task();
    ObjectNode json = Json.object();
    json.set("_id", id(task.id()));
    json.set("queue", id(task.queue()));
    json.put("status", task.status());
    json.put("node", task.progress().node());
    json.set("params", task.params());
    times.put(json, "ctime", task.ctimeMillis());
    times.put(json, "mtime", task.progress().mtimeMillis());
    QueueTask.Scheduled scheduled = task.scheduled();
    if (scheduled != null) {
      ObjectNode run = json.putObject("schedule").put("name", scheduled.name());
      times.put(run, "nominal", scheduled.nominalMillis());
      times.put(run, "started", scheduled.startedMillis());
    }
    if (wanted.wants("stdout")) {
      form.put(json, "stdout", task.output().stdout());
    }
    if (wanted.wants("stderr")) {
      form.put(json, "stderr", task.output().stderr());
    }
    Output mixed = task.output().mixed();
    if (!(mixed instanceof Output.None) && wanted.wants("mixedout")) {
      form.put(json, "mixedout", mixed);
    }
    if (task.progress().reason() != null) {
      json.put("reason", task.progress().reason());
    }
    if (task.progress().orphaned() > 0) {
      json.put("orphaned", task.progress().orphaned());
    }
    task.policy().fields().forEach((field, text) -> setting(json, field, text));
    Retries retries = task.progress().retries();
    if (!task.policy().isEmpty() || retries.token() > 0) {
      json.put("attempt", task.progress().attempt());
    }
    if (retries.snoozed() > 0) {
      json.put("snoozed", retries.snoozed());
    }
    if (retries.notBeforeMillis() > 0) {
      times.put(json, "not_before", retries.notBeforeMillis());
    }
    // Tasks of version 3 have no fields that it did not know.
    if (retries.startedMillis() > 0 && times != Times.WHOLE_SECONDS) {
      times.put(json, "started", retries.startedMillis());
    }
    if (!retries.ended().isEmpty()
        && times != Times.WHOLE_SECONDS
        && wanted.wants("ended_attempts")) {
      json.set("ended_attempts", EndedAttempt.show(retries.ended(), times::put));
    }
    Deadlines deadlines = task.progress().deadlines();
    if (deadlines.waitEndMillis() > 0 && task.status() == Status.QUEUED) {
      times.put(json, "wait_end", deadlines.waitEndMillis());
    }
    if (deadlines.endMillis() > 0) {
      times.put(json, "total_end", deadlines.endMillis());
    }
    ObjectNode shown = wanted.of(json);
    return found.archived() ? shown.put("archived", true) : shown;
  }

  /** An array of tasks. Each is created when it is written, since their outputs may be long. */
  static Response tasks(List<Found> found, Function<Found, JsonNode> shape, boolean pretty) {
    var writer = pretty ? Json.MAPPER.writerWithDefaultPrettyPrinter() : Json.MAPPER.writer();
    return Response.streamed(
        Response.JSON,
        target -> {
          try (JsonGenerator json = writer.createGenerator(target)) {
            json.writeStartArray();
            for (Found task : found) {
              json.writePOJO(shape.apply(task));
            }
            json.writeEndArray();
          }
        });
  }

  /** An id in the form of MongoDB's clients. */
  static ObjectNode id(ObjectId id) {
    return Json.object().put("$oid", id.hex());
  }

  static ArrayNode strings(List<String> values) {
    ArrayNode array = Json.array();
    values.forEach(array::add);
    return array;
  }

  static Response response(JsonNode body, boolean pretty) {
    return pretty
        ? Response.json(
            Json.MAPPER.writer().with(SerializationFeature.INDENT_OUTPUT).writeValueAsBytes(body))
        : Json.response(body);
  }
}
