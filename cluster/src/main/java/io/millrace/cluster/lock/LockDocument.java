package io.millrace.cluster.lock;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The content of a lock's document. Its JSON has the fields {@code holder}, {@code expire}, {@code
 * fence} and, for a partition, {@code task} and {@code state}.
 *
 * @param holder the token of the member that holds the lock; empty if none does
 * @param expireMillis when the holder's lease ends, by the holder's wall clock, in milliseconds
 *     since 1970; 0 if the lock was released or never held
 * @param fence the fencing token of the holder, which grows with each acquisition
 * @param task the work of a partition; null for other locks
 */
public record LockDocument(String holder, long expireMillis, long fence, @Nullable Task task) {
  /**
   * The work of a partition.
   *
   * @param encoded the work in base64, as the leader serialized it
   * @param state whether it is done
   */
  public record Task(String encoded, State state) {
    /** Work that is not done yet. */
    public static Task outstanding(String encoded) {
      return new Task(encoded, State.OUTSTANDING);
    }
  }

  /** The state of a partition. A partition in progress is outstanding and held. */
  public enum State {
    /** To be worked on, or being worked on. */
    @JsonProperty("outstanding")
    OUTSTANDING,
    /** Completed successfully. */
    @JsonProperty("done")
    DONE
  }

  /** Whether the lock was released, so that any member may take it at once. */
  public boolean isReleased() {
    return expireMillis == 0;
  }

  LockDocument taken(String token, long expireMillis, long fence) {
    return new LockDocument(token, expireMillis, fence, task);
  }

  LockDocument renewed(long expireMillis) {
    return new LockDocument(holder, expireMillis, fence, task);
  }

  LockDocument released() {
    return new LockDocument("", 0, fence, task);
  }

  /** Released because its work is done. The document still names the member that did it. */
  LockDocument done() {
    return new LockDocument(
        holder, 0, fence, task == null ? null : new Task(task.encoded(), State.DONE));
  }

  /** The content of the document. */
  public String json() {
    ObjectNode json = DocumentJson.object();
    json.put("holder", holder);
    json.put("expire", expireMillis);
    json.put("fence", fence);
    if (task != null) {
      json.put("task", task.encoded());
      json.put("state", task.state().name().toLowerCase(Locale.ROOT));
    }
    return json.toString();
  }

  /**
   * Reads a lock's document. A missing fence counts as 0, a missing holder as no holder.
   *
   * @throws ClusterException naming the document if it is not a lock
   */
  public static LockDocument read(VersionedDocument document) {
    return DocumentJson.read(
        document,
        "is no lock",
        json ->
            new LockDocument(
                json.path("holder").asString(""),
                whole(json, "expire"),
                json.has("fence") ? whole(json, "fence") : 0,
                task(json)));
  }

  private static long whole(JsonNode json, String field) {
    JsonNode number = json.path(field);
    if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
      throw new IllegalArgumentException("its " + field + " is not a non-negative integer");
    }
    return number.asLong();
  }

  private static @Nullable Task task(JsonNode json) {
    JsonNode task = json.path("task");
    if (task.isMissingNode()) {
      return null;
    }
    String state = json.path("state").asString("").toUpperCase(Locale.ROOT);
    Base64.getDecoder().decode(task.asString());
    return new Task(task.asString(), State.valueOf(state));
  }
}
