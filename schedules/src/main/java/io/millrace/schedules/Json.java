package io.millrace.schedules;

import io.millrace.schedules.ScheduleState.Backfill;
import io.millrace.schedules.ScheduleState.Cause;
import io.millrace.schedules.ScheduleState.Counts;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.ScheduleState.MissedRun;
import io.millrace.schedules.ScheduleState.Pause;
import io.millrace.schedules.ScheduleState.Range;
import io.millrace.schedules.ScheduleState.Result;
import io.millrace.schedules.ScheduleState.Run;
import io.millrace.store.Bytes;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of stored documents: a schedule is stored in its form, a state with short names. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          // Fractions in params keep their digits.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static Bytes write(ObjectNode document) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(document));
  }

  static ObjectNode read(Bytes body) {
    try {
      if (MAPPER.readTree(body.toArray()) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw new SchedulesException(
          "a document of schedules is damaged: " + e.getOriginalMessage(), e);
    }
    throw new SchedulesException("a document of schedules is damaged: it is no object");
  }

  static Bytes write(ScheduleState state) {
    ObjectNode json = object();
    put(json, "cursor", state.cursor());
    ArrayNode waiting = json.putArray("waiting");
    state.waiting().forEach(nominal -> waiting.add(nominal.toEpochMilli()));
    ArrayNode active = json.putArray("active");
    for (Run run : state.active()) {
      ObjectNode each = active.addObject();
      each.put("id", run.id());
      put(each, "nominal", run.nominal());
      put(each, "started", run.started());
      each.put("cause", lower(run.cause()));
      if (run.cancelled()) {
        each.put("cancelled", true);
      }
    }
    ArrayNode backfills = json.putArray("backfills");
    for (Backfill backfill : state.backfills()) {
      backfills
          .addArray()
          .add(backfill.after().toEpochMilli())
          .add(backfill.until().toEpochMilli());
    }
    ArrayNode ran = json.putArray("ran");
    for (Range range : state.ran()) {
      ran.addArray().add(range.first().toEpochMilli()).add(range.last().toEpochMilli());
    }
    Counts counts = state.counts();
    json.putArray("counts")
        .add(counts.started())
        .add(counts.succeeded())
        .add(counts.failed())
        .add(counts.missed())
        .add(counts.skipped());
    MissedRun missed = state.lastMissed();
    if (missed != null) {
      json.putArray("missed")
          .add(missed.nominal().toEpochMilli())
          .add(missed.noticed().toEpochMilli());
    }
    json.put("failures", state.failuresInRow());
    Pause pause = state.pause();
    if (pause != null) {
      ObjectNode paused = json.putObject("pause");
      put(paused, "since", pause.since());
      paused.put("note", pause.note());
      paused.put("failures", pause.failures());
    }
    ArrayNode results = json.putArray("results");
    for (Result result : state.results()) {
      ObjectNode each = results.addObject();
      each.put("id", result.id());
      put(each, "nominal", result.nominal());
      put(each, "started", result.started());
      put(each, "ended", result.ended());
      each.put("cause", lower(result.cause()));
      each.put("ending", lower(result.ending()));
      if (result.reason() != null) {
        each.put("reason", result.reason());
      }
    }
    return write(json);
  }

  static ScheduleState readState(Bytes body) {
    ObjectNode json = read(body);
    JsonNode counts = json.required("counts");
    return new ScheduleState(
        instant(json, "cursor"),
        list(json, "waiting", Json::instant),
        list(json, "active", Json::run),
        list(json, "backfills", pair -> new Backfill(first(pair), second(pair))),
        list(json, "ran", pair -> new Range(first(pair), second(pair))),
        new Counts(
            counts.required(0).asLong(),
            counts.required(1).asLong(),
            counts.required(2).asLong(),
            counts.required(3).asLong(),
            counts.required(4).asLong()),
        missed(json.path("missed")),
        json.required("failures").asInt(),
        pause(json.path("pause")),
        list(json, "results", Json::result));
  }

  private static Run run(JsonNode json) {
    return new Run(
        json.required("id").asString(),
        instant(json, "nominal"),
        instant(json, "started"),
        Cause.valueOf(upper(json, "cause")),
        json.path("cancelled").asBoolean(false));
  }

  private static Result result(JsonNode json) {
    return new Result(
        json.required("id").asString(),
        instant(json, "nominal"),
        instant(json, "started"),
        instant(json, "ended"),
        Cause.valueOf(upper(json, "cause")),
        Ending.valueOf(upper(json, "ending")),
        json.has("reason") ? json.path("reason").asString() : null);
  }

  private static @Nullable MissedRun missed(JsonNode pair) {
    return pair.isMissingNode() ? null : new MissedRun(first(pair), second(pair));
  }

  private static @Nullable Pause pause(JsonNode json) {
    return json.isMissingNode()
        ? null
        : new Pause(
            instant(json, "since"),
            json.required("note").asString(),
            json.required("failures").asBoolean());
  }

  private static <T> List<T> list(ObjectNode json, String field, Function<JsonNode, T> read) {
    return json.required(field).valueStream().map(read).toList();
  }

  private static void put(ObjectNode json, String field, Instant time) {
    json.put(field, time.toEpochMilli());
  }

  private static Instant instant(JsonNode json, String field) {
    return instant(json.required(field));
  }

  private static Instant first(JsonNode pair) {
    return instant(pair.required(0));
  }

  private static Instant second(JsonNode pair) {
    return instant(pair.required(1));
  }

  private static Instant instant(JsonNode json) {
    return Instant.ofEpochMilli(json.asLong());
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static String upper(JsonNode json, String field) {
    return json.required(field).asString().toUpperCase(Locale.ROOT);
  }
}
