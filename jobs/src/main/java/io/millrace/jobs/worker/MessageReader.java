package io.millrace.jobs.worker;

import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobId;
import io.millrace.jobs.WorkerId;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the text messages of workers, as leniently as GridLike does: the names of fields are found
 * in any case, of a repeated one the last counts, numbers may be given as texts and texts as
 * numbers, and what a message does not know is ignored.
 */
final class MessageReader {
  private static final int MOST_NAME = 256;
  private static final int MOST_JOBS = 1_000;
  private static final double WHOLE_PERCENT = 100;
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private MessageReader() {}

  static WorkerMessage read(String text) throws MalformedMessageException {
    Map<String, JsonNode> fields = parse(text);
    Long code = integer(fields.get("code"));
    if (code == null) {
      throw new MalformedMessageException("a message has a number \"code\"");
    }
    return switch (Math.toIntExact(Math.clamp(code, -1, Integer.MAX_VALUE))) {
      case 0 -> new WorkerMessage.Register(registration(fields));
      case 1 -> status(fields);
      case 3 -> advanced(fields);
      case 4 -> new WorkerMessage.Failed(job(fields), text(fields, "info"), text(fields, "logs"));
      case 6 -> {
        JobId job = job(fields);
        if (job == null) {
          throw new MalformedMessageException("\"job\" is missing");
        }
        yield new WorkerMessage.ResultFollows(job);
      }
      default -> new WorkerMessage.Unknown("there is no code " + code + " for a worker to send");
    };
  }

  private static Map<String, JsonNode> parse(String text) throws MalformedMessageException {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json.isObject()) {
        Map<String, JsonNode> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (Map.Entry<String, JsonNode> field : json.properties()) {
          // A name in lower case is the exact one, which goes before all others.
          if (!fields.containsKey(field.getKey())
              || isExact(field.getKey())
              || !json.has(lower(field.getKey()))) {
            fields.put(field.getKey(), field.getValue());
          }
        }
        return fields;
      }
    } catch (JacksonException e) {
      throw new MalformedMessageException("a message is JSON: " + shorten(e.getOriginalMessage()));
    }
    throw new MalformedMessageException("a message is a JSON object");
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

  /** One of name and id stands for the other when it is missing. */
  private static Registration registration(Map<String, JsonNode> fields)
      throws MalformedMessageException {
    String name = text(fields, "name");
    String id = text(fields, "id");
    if (id == null || id.isEmpty()) {
      id = name;
    }
    if (name == null) {
      name = id;
    }
    if (name == null || id == null) {
      throw new MalformedMessageException("a registration has texts \"name\" and \"id\"");
    }
    if (name.length() > MOST_NAME) {
      throw new MalformedMessageException("a name has at most " + MOST_NAME + " characters");
    }
    String token = text(fields, "token");
    JsonNode jobs = fields.get("jobs");
    boolean told = jobs != null && !jobs.isNull();
    return new Registration(name, workerId(id), token == null ? "" : token, jobs(jobs), told);
  }

  private static WorkerId workerId(String id) throws MalformedMessageException {
    try {
      return new WorkerId(id);
    } catch (InvalidJobException e) {
      throw new MalformedMessageException(String.valueOf(e.getMessage()));
    }
  }

  private static int jobs(@Nullable JsonNode jobs) throws MalformedMessageException {
    if (jobs == null || jobs.isNull()) {
      return 1;
    }
    Long count = integer(jobs);
    if (count == null || count < 1 || count > MOST_JOBS) {
      throw new MalformedMessageException("\"jobs\" is a number from 1 to " + MOST_JOBS);
    }
    return Math.toIntExact(count);
  }

  private static WorkerMessage status(Map<String, JsonNode> fields)
      throws MalformedMessageException {
    Long status = integer(fields.get("status"));
    if (status == null) {
      throw new MalformedMessageException("a status is 0 for busy or 1 for ready");
    }
    return status == 0 || status == 1
        ? new WorkerMessage.Status(status == 1)
        : new WorkerMessage.Unknown("there is no status " + status + ", only 0 and 1");
  }

  private static WorkerMessage advanced(Map<String, JsonNode> fields)
      throws MalformedMessageException {
    Double percent = percent(fields.get("percent"));
    String info = text(fields, "info");
    if (percent == null && info == null) {
      throw new MalformedMessageException("progress has \"percent\" or \"info\", or both");
    }
    return new WorkerMessage.Advanced(job(fields), percent, info);
  }

  /** Cut to what there can be; null for none, and for what is no number. */
  private static @Nullable Double percent(@Nullable JsonNode value)
      throws MalformedMessageException {
    if (value == null || value.isNull()) {
      return null;
    }
    double percent;
    try {
      percent = value.isNumber() ? value.asDouble() : Double.parseDouble(value.asString(""));
    } catch (NumberFormatException | JacksonException e) {
      throw new MalformedMessageException("\"percent\" is null or from 0.0 to 100.0");
    }
    return Double.isNaN(percent) ? null : Math.clamp(percent, 0, WHOLE_PERCENT);
  }

  private static @Nullable JobId job(Map<String, JsonNode> fields)
      throws MalformedMessageException {
    String job = text(fields, "job");
    return job == null
        ? null
        : JobId.parse(job)
            .orElseThrow(() -> new MalformedMessageException("\"job\" is the GUID of a job"));
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
      throws MalformedMessageException {
    JsonNode value = fields.get(name);
    if (value == null || value.isNull()) {
      return null;
    }
    if (value.isContainer()) {
      throw new MalformedMessageException("\"" + name + "\" is a text or null");
    }
    return value.asString();
  }
}
