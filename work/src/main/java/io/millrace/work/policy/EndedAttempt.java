package io.millrace.work.policy;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * An attempt at a piece of work that has ended, as the work remembers it: the last {@value #MOST}
 * attempts that did not succeed, so that people can see what went wrong before. Immutable. Times
 * are in milliseconds since the epoch.
 *
 * @param node the execution node that had it; null if there was none
 * @param startedMillis when it started; 0 if it had not started yet
 * @param endedMillis when it ended
 * @param end how it ended, in a word: {@code failed}, {@code snoozed}, {@code orphaned}, {@code
 *     interrupted}, {@code terminated}, {@code killed}, {@code succeeded} or {@code finished}
 * @param code the code of its failure; null for none
 * @param reason why it ended, for people; null for none. The first {@value #MAX_REASON} characters
 *     are kept
 * @param log the end of what it wrote; null for nothing. The last {@value #MAX_LOG} characters are
 *     kept
 */
public record EndedAttempt(
    @Nullable String node,
    long startedMillis,
    long endedMillis,
    String end,
    @Nullable String code,
    @Nullable String reason,
    @Nullable String log) {
  /** How many attempts are remembered. */
  public static final int MOST = 10;

  /** The most characters of a reason. */
  public static final int MAX_REASON = 500;

  /** The most characters of a log. */
  public static final int MAX_LOG = 1_000;

  /** Cuts the texts; an empty reason is none. */
  public EndedAttempt {
    if (reason != null && reason.isEmpty()) {
      reason = null;
    } else if (reason != null && reason.length() > MAX_REASON) {
      reason = reason.substring(0, MAX_REASON - 1) + "…";
    }
    if (log != null && log.length() > MAX_LOG) {
      log = "…" + log.substring(log.length() - MAX_LOG + 1);
    }
  }

  /** These attempts and then this one, without the oldest if there are too many. */
  public List<EndedAttempt> after(List<EndedAttempt> earlier) {
    int dropped = Math.max(0, earlier.size() + 1 - MOST);
    return Stream.concat(earlier.stream().skip(dropped), Stream.of(this)).toList();
  }

  /** How a time is shown. */
  @FunctionalInterface
  public interface TimeForm {
    /** Shows a time as a field. */
    void put(ObjectNode json, String field, long millis);
  }

  /** An array of them, for people and programs; absent fields are left out. */
  public static ArrayNode show(List<EndedAttempt> attempts, TimeForm times) {
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    attempts.forEach(attempt -> attempt.show(array.addObject(), times));
    return array;
  }

  private void show(ObjectNode json, TimeForm times) {
    json.put("end", end);
    if (startedMillis > 0) {
      times.put(json, "started", startedMillis);
    }
    times.put(json, "ended", endedMillis);
    put(json, "node", node);
    put(json, "code", code);
    put(json, "reason", reason);
    put(json, "log", log);
  }

  private static void put(ObjectNode json, String field, @Nullable String text) {
    if (text != null) {
      json.put(field, text);
    }
  }

  /** An array of them, as it is stored. */
  public static ArrayNode write(List<EndedAttempt> attempts) {
    return show(attempts, ObjectNode::put);
  }

  /** Reads the output of {@link #write}; none if it is null. */
  public static List<EndedAttempt> read(@Nullable JsonNode array) {
    return array == null ? List.of() : array.valueStream().map(EndedAttempt::readOne).toList();
  }

  private static EndedAttempt readOne(JsonNode json) {
    return new EndedAttempt(
        text(json, "node"),
        json.path("started").asLong(0),
        json.required("ended").asLong(),
        json.required("end").asString(),
        text(json, "code"),
        text(json, "reason"),
        text(json, "log"));
  }

  private static @Nullable String text(JsonNode json, String field) {
    JsonNode text = json.get(field);
    return text == null ? null : text.asString();
  }
}
