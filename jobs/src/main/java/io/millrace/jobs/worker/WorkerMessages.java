package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.WorkerId;
import io.millrace.work.trace.TraceContext;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The text messages of the worker protocol. Those of workers are read as leniently as GridLike
 * reads them: names of fields in any case, the last of a repeated field counts, numbers may be
 * given as texts and texts as numbers, and unknown fields are ignored.
 */
final class WorkerMessages {
  /** Asks for the status: code 2. */
  static final String ASK = "{\"code\":2}";

  private static final int MAX_NAME = 256;
  private static final int MAX_JOBS = 1_000;
  private static final double WHOLE_PERCENT = 100;
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private WorkerMessages() {}

  /** A text message of a worker, by its code in the protocol. */
  sealed interface Message {
    /** Code 0: registers the worker. */
    record Register(Registration registration) implements Message {}

    /** Code 1: whether the worker is ready or busy. */
    record Status(boolean ready) implements Message {}

    /**
     * Code 3: how far a job is.
     *
     * @param job which one; null for the only one
     * @param percent from 0 to 100; null if only {@code info} is given
     * @param info for people; null if only {@code percent} is given
     */
    record Advanced(@Nullable JobId job, @Nullable Double percent, @Nullable String info)
        implements Message {}

    /**
     * Code 4: a job failed.
     *
     * @param job which one; null for the only one
     * @param info what went wrong; null for none
     * @param logs details; null for none
     * @param wish what the worker says about another attempt
     */
    record Failed(
        @Nullable JobId job, @Nullable String info, @Nullable String logs, Failure.Wish wish)
        implements Message {}

    /**
     * Code 6, only from workers of several jobs: the next binary message is the result of this job.
     */
    record ResultFollows(JobId job) implements Message {}

    /** A message that this server does not know, and ignores. */
    record Unknown(String what) implements Message {}
  }

  /** A message that does not follow the protocol. The text says why, in a few words. */
  static final class MalformedException extends Exception {
    MalformedException(String message) {
      super(message);
    }
  }

  /**
   * Asks for the status, and says why a report was refused. Workers that know only the original
   * protocol read it as the question.
   */
  static String refused(Assignment assignment, String reason) {
    return MAPPER
        .createObjectNode()
        .put("code", 2)
        .put("refused", assignment.job().id().toString())
        .put("info", reason)
        .toString();
  }

  /** Precedes a payload to workers of several jobs: code 5. */
  static String announce(Assignment assignment) {
    ObjectNode message =
        MAPPER
            .createObjectNode()
            .put("code", 5)
            .put("job", assignment.job().id().toString())
            .put("key", assignment.job().key())
            .put("token", assignment.claim().token())
            .put("bytes", assignment.job().content().payload());
    TraceContext span = assignment.job().span(assignment.claim().token());
    if (span != null) {
      span.headers().forEach(message::put);
    }
    Job.Scheduled run = assignment.job().line().scheduled();
    if (run != null) {
      message
          .putObject("schedule")
          .put("name", run.name())
          .put("nominal", Instant.ofEpochMilli(run.nominalMillis()).toString())
          .put("started", Instant.ofEpochMilli(run.startedMillis()).toString());
    }
    return message.toString();
  }

  static Message read(String text) throws MalformedException {
    Map<String, JsonNode> fields = parse(text);
    Long code = integer(fields.get("code"));
    if (code == null) {
      throw new MalformedException("a message has a number \"code\"");
    }
    return switch (Math.toIntExact(Math.clamp(code, -1, Integer.MAX_VALUE))) {
      case 0 -> new Message.Register(registration(fields));
      case 1 -> status(fields);
      case 3 -> advanced(fields);
      case 4 ->
          new Message.Failed(job(fields), text(fields, "info"), text(fields, "logs"), wish(fields));
      case 6 -> {
        JobId job = job(fields);
        if (job == null) {
          throw new MalformedException("\"job\" is missing");
        }
        yield new Message.ResultFollows(job);
      }
      default -> new Message.Unknown("there is no code " + code + " for a worker to send");
    };
  }

  private static Map<String, JsonNode> parse(String text) throws MalformedException {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json.isObject()) {
        Map<String, JsonNode> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (Map.Entry<String, JsonNode> field : json.properties()) {
          // A name in lower case is exact and takes precedence.
          if (!fields.containsKey(field.getKey())
              || isExact(field.getKey())
              || !json.has(lower(field.getKey()))) {
            fields.put(field.getKey(), field.getValue());
          }
        }
        return fields;
      }
    } catch (JacksonException e) {
      throw new MalformedException("a message is JSON: " + shorten(e.getOriginalMessage()));
    }
    throw new MalformedException("a message is a JSON object");
  }

  private static boolean isExact(String name) {
    return name.equals(lower(name));
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  private static String shorten(String message) {
    return message.length() <= 80 ? message : message.substring(0, 80);
  }

  /** If one of name and id is missing, the other stands for it. */
  private static Registration registration(Map<String, JsonNode> fields) throws MalformedException {
    String name = text(fields, "name");
    String id = text(fields, "id");
    if (id == null || id.isEmpty()) {
      id = name;
    }
    if (name == null) {
      name = id;
    }
    if (name == null || id == null) {
      throw new MalformedException("a registration has texts \"name\" and \"id\"");
    }
    if (name.length() > MAX_NAME) {
      throw new MalformedException("a name has at most " + MAX_NAME + " characters");
    }
    String token = text(fields, "token");
    JsonNode jobs = fields.get("jobs");
    boolean told = jobs != null && !jobs.isNull();
    return new Registration(name, workerId(id), token == null ? "" : token, jobs(jobs), told);
  }

  private static WorkerId workerId(String id) throws MalformedException {
    try {
      return new WorkerId(id);
    } catch (InvalidJobException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  private static int jobs(@Nullable JsonNode jobs) throws MalformedException {
    if (jobs == null || jobs.isNull()) {
      return 1;
    }
    Long count = integer(jobs);
    if (count == null || count < 1 || count > MAX_JOBS) {
      throw new MalformedException("\"jobs\" is a number from 1 to " + MAX_JOBS);
    }
    return Math.toIntExact(count);
  }

  private static Message status(Map<String, JsonNode> fields) throws MalformedException {
    Long status = integer(fields.get("status"));
    if (status == null) {
      throw new MalformedException("a status is 0 for busy or 1 for ready");
    }
    return status == 0 || status == 1
        ? new Message.Status(status == 1)
        : new Message.Unknown("there is no status " + status + ", only 0 and 1");
  }

  private static Failure.Wish wish(Map<String, JsonNode> fields) throws MalformedException {
    try {
      return Failure.Wish.of(
          text(fields, "failureCode"), number(fields, "retryAfter"), number(fields, "snooze"));
    } catch (InvalidJobException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  private static @Nullable BigDecimal number(Map<String, JsonNode> fields, String name)
      throws MalformedException {
    JsonNode value = fields.get(name);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isNumber()) {
      throw new MalformedException("\"" + name + "\" is a number of seconds");
    }
    return value.decimalValue();
  }

  private static Message advanced(Map<String, JsonNode> fields) throws MalformedException {
    Double percent = percent(fields.get("percent"));
    String info = text(fields, "info");
    if (percent == null && info == null) {
      throw new MalformedException("progress has \"percent\" or \"info\", or both");
    }
    return new Message.Advanced(job(fields), percent, info);
  }

  /** Clamped to the range; null for none and for NaN. */
  private static @Nullable Double percent(@Nullable JsonNode value) throws MalformedException {
    if (value == null || value.isNull()) {
      return null;
    }
    double percent;
    try {
      percent = value.isNumber() ? value.asDouble() : Double.parseDouble(value.asString(""));
    } catch (NumberFormatException | JacksonException e) {
      throw new MalformedException("\"percent\" is null or from 0.0 to 100.0");
    }
    return Double.isNaN(percent) ? null : Math.clamp(percent, 0, WHOLE_PERCENT);
  }

  private static @Nullable JobId job(Map<String, JsonNode> fields) throws MalformedException {
    String job = text(fields, "job");
    return job == null
        ? null
        : JobId.parse(job)
            .orElseThrow(() -> new MalformedException("\"job\" is the GUID of a job"));
  }

  /** A whole number, or a text that is one; null for anything else. */
  private static @Nullable Long integer(@Nullable JsonNode value) {
    if (value == null) {
      return null;
    }
    if (value.isIntegralNumber()) {
      return value.canConvertToLong() ? value.asLong() : null;
    }
    try {
      return value.isString() ? Long.valueOf(value.asString().strip()) : null;
    } catch (NumberFormatException _) {
      return null;
    }
  }

  private static @Nullable String text(Map<String, JsonNode> fields, String name)
      throws MalformedException {
    JsonNode value = fields.get(name);
    if (value == null || value.isNull()) {
      return null;
    }
    if (value.isContainer()) {
      throw new MalformedException("\"" + name + "\" is a text or null");
    }
    return value.asString();
  }
}
