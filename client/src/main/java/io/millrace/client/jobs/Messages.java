package io.millrace.client.jobs;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The text messages that a worker sends. The codes are those of docs/jobs.md. */
final class Messages {
  private static final JsonMapper MAPPER = new JsonMapper();
  private static final int MOST_INFO = 1_000;
  private static final int MOST_LOGS = 64_000;

  private Messages() {}

  /** Code 0: who it is. Naming the number of jobs asks for code 5 before each payload. */
  static String register(JobWorkerOptions.Identity identity, int jobs) {
    return message(0)
        .put("name", sound(identity.name()))
        .put("id", sound(identity.id()))
        .put("token", sound(identity.token()))
        .put("jobs", jobs)
        .toString();
  }

  /** Code 1. */
  static String status(boolean ready) {
    return message(1).put("status", ready ? 1 : 0).toString();
  }

  /** Code 3. */
  static String progress(JobContext job, @Nullable Double percent, @Nullable String info) {
    String text =
        info == null ? null : sound(info.substring(0, Math.min(info.length(), MOST_INFO)));
    return about(message(3), job).put("percent", percent).put("info", text).toString();
  }

  /** Code 4. */
  static String failure(JobContext job, @Nullable String info, @Nullable String logs) {
    return about(message(4), job)
        .put(
            "info",
            info == null ? null : sound(info.substring(0, Math.min(info.length(), MOST_INFO))))
        .put(
            "logs",
            logs == null ? null : sound(logs.substring(Math.max(0, logs.length() - MOST_LOGS))))
        .toString();
  }

  /** Code 6: the next binary message is the result of this job. */
  static String resultFollows(JobContext job) {
    return about(message(6), job).toString();
  }

  private static ObjectNode message(int code) {
    return MAPPER.createObjectNode().put("code", code);
  }

  /** A server that announces no jobs has told no id either. */
  private static ObjectNode about(ObjectNode message, JobContext job) {
    return job.id().isEmpty() ? message : message.put("job", job.id());
  }

  /** Halves of surrogate pairs, which no message can carry, become question marks. */
  private static String sound(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
