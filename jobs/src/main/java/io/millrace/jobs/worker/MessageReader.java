package io.millrace.jobs.worker;

import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobId;
import io.millrace.jobs.WorkerId;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads the text messages of workers. Fields that a message does not know are ignored. */
final class MessageReader {
  private static final int MOST_NAME = 256;
  private static final int MOST_JOBS = 1_000;
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private MessageReader() {}

  static WorkerMessage read(String text) throws MalformedMessageException {
    JsonNode json = parse(text);
    JsonNode code = json.get("code");
    if (code == null || !code.isIntegralNumber() || !code.canConvertToInt()) {
      throw new MalformedMessageException("a message has a number \"code\"");
    }
    return switch (code.asInt()) {
      case 0 -> new WorkerMessage.Register(registration(json));
      case 1 -> status(json);
      case 3 -> advanced(json);
      case 4 -> new WorkerMessage.Failed(job(json), text(json, "info"), text(json, "logs"));
      case 6 -> {
        JobId job = job(json);
        if (job == null) {
          throw new MalformedMessageException("\"job\" is missing");
        }
        yield new WorkerMessage.ResultFollows(job);
      }
      case 2 -> throw new MalformedMessageException("code 2 is for the server to send");
      default -> throw new MalformedMessageException("there is no code " + code.asInt());
    };
  }

  private static JsonNode parse(String text) throws MalformedMessageException {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json.isObject()) {
        return json;
      }
    } catch (JacksonException e) {
      throw new MalformedMessageException("a message is JSON: " + shorten(e.getOriginalMessage()));
    }
    throw new MalformedMessageException("a message is a JSON object");
  }

  private static String shorten(String message) {
    return message.length() <= 80 ? message : message.substring(0, 80);
  }

  private static Registration registration(JsonNode json) throws MalformedMessageException {
    String name = text(json, "name");
    String id = text(json, "id");
    if (name == null || id == null) {
      throw new MalformedMessageException("a registration has texts \"name\" and \"id\"");
    }
    if (name.length() > MOST_NAME) {
      throw new MalformedMessageException("a name has at most " + MOST_NAME + " characters");
    }
    String token = text(json, "token");
    boolean told = json.hasNonNull("jobs");
    return new Registration(name, workerId(id), token == null ? "" : token, jobs(json), told);
  }

  private static WorkerId workerId(String id) throws MalformedMessageException {
    try {
      return new WorkerId(id);
    } catch (InvalidJobException e) {
      throw new MalformedMessageException(String.valueOf(e.getMessage()));
    }
  }

  private static int jobs(JsonNode json) throws MalformedMessageException {
    JsonNode jobs = json.get("jobs");
    if (jobs == null || jobs.isNull()) {
      return 1;
    }
    if (!jobs.canConvertToInt() || jobs.asInt() < 1 || jobs.asInt() > MOST_JOBS) {
      throw new MalformedMessageException("\"jobs\" is a number from 1 to " + MOST_JOBS);
    }
    return jobs.asInt();
  }

  private static WorkerMessage status(JsonNode json) throws MalformedMessageException {
    JsonNode status = json.get("status");
    if (status == null || !status.canConvertToInt()) {
      throw new MalformedMessageException("a status is 0 for busy or 1 for ready");
    }
    return switch (status.asInt()) {
      case 0 -> new WorkerMessage.Status(false);
      case 1 -> new WorkerMessage.Status(true);
      default -> throw new MalformedMessageException("a status is 0 for busy or 1 for ready");
    };
  }

  private static WorkerMessage advanced(JsonNode json) throws MalformedMessageException {
    JsonNode percent = json.get("percent");
    Double value = null;
    if (percent != null && !percent.isNull()) {
      if (!percent.isNumber() || !(percent.asDouble() >= 0 && percent.asDouble() <= 100)) {
        throw new MalformedMessageException("\"percent\" is null or from 0.0 to 100.0");
      }
      value = percent.asDouble();
    }
    String info = text(json, "info");
    if (value == null && info == null) {
      throw new MalformedMessageException("progress has \"percent\" or \"info\", or both");
    }
    return new WorkerMessage.Advanced(job(json), value, info);
  }

  private static @Nullable JobId job(JsonNode json) throws MalformedMessageException {
    String job = text(json, "job");
    return job == null
        ? null
        : JobId.parse(job)
            .orElseThrow(() -> new MalformedMessageException("\"job\" is the GUID of a job"));
  }

  private static @Nullable String text(JsonNode json, String field)
      throws MalformedMessageException {
    JsonNode value = json.get(field);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw new MalformedMessageException("\"" + field + "\" is a text or null");
    }
    return value.asString();
  }
}
