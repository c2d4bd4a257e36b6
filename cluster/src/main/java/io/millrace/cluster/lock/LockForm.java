package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Locks as JSON: the seed's fields {@code holder, expire, task, state}, and {@code fence}. */
public final class LockForm {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private LockForm() {}

  /** The content of a lock's document. */
  public static String write(LockDocument lock) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("holder", lock.holder());
    json.put("expire", lock.expireMillis());
    json.put("fence", lock.fence());
    PartitionTask charge = lock.charge();
    if (charge != null) {
      json.put("task", charge.task());
      json.put("state", charge.state().name().toLowerCase(Locale.ROOT));
    }
    return MAPPER.writeValueAsString(json);
  }

  /**
   * What stands in a lock's document. A fence that is missing counts as 0, a holder as nobody.
   *
   * @throws ClusterException naming the document where it is no lock
   */
  public static LockDocument read(VersionedDocument document) {
    try {
      JsonNode json = MAPPER.readTree(document.json());
      String holder = json.path("holder").asString("");
      long expire = whole(json, "expire");
      long fence = json.has("fence") ? whole(json, "fence") : 0;
      return new LockDocument(holder, expire, fence, charge(json));
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException(
          "document " + document.key() + " is no lock: " + e.getMessage(), e);
    }
  }

  private static long whole(JsonNode json, String field) {
    JsonNode number = json.path(field);
    if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
      throw new IllegalArgumentException("its " + field + " is not a whole number from 0 on");
    }
    return number.asLong();
  }

  private static @Nullable PartitionTask charge(JsonNode json) {
    JsonNode task = json.path("task");
    if (task.isMissingNode()) {
      return null;
    }
    String state = json.path("state").asString("").toUpperCase(Locale.ROOT);
    Base64.getDecoder().decode(task.asString());
    return new PartitionTask(task.asString(), PartitionTask.State.valueOf(state));
  }
}
