package io.millrace.cluster.remote.backlog;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Items as JSON: {@code {"item": NAME, "state": "given", "attempts": N, "fence": N}}. */
final class ItemForm {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private ItemForm() {}

  static String write(Item item) {
    return MAPPER.writeValueAsString(
        MAPPER
            .createObjectNode()
            .put("item", item.name())
            .put("state", item.state().name().toLowerCase(Locale.ROOT))
            .put("attempts", item.attempts())
            .put("fence", item.fence()));
  }

  /**
   * What stands in an item's document.
   *
   * @throws ClusterException naming the document where it is no item
   */
  static Item read(VersionedDocument document) {
    try {
      JsonNode json = MAPPER.readTree(document.json());
      String state = json.path("state").asString("").toUpperCase(Locale.ROOT);
      return new Item(
          json.path("item").asString(""),
          Item.State.valueOf(state),
          json.path("attempts").asInt(0),
          json.path("fence").asLong(0),
          document.version());
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException(
          "document " + document.key() + " is no item of a backlog: " + e.getMessage(), e);
    }
  }
}
