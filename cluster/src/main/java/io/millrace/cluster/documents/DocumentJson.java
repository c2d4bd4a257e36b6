package io.millrace.cluster.documents;

import io.millrace.cluster.ClusterException;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Converts contents of documents to and from JSON trees. */
public final class DocumentJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY).build();

  private DocumentJson() {}

  /** An empty object. Its {@code toString} is the content of a document. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** An object with the components of a record, in order. */
  public static ObjectNode object(Record value) {
    return MAPPER.valueToTree(value);
  }

  /** The JSON of a map, or of a list of records or texts. */
  public static JsonNode tree(Object value) {
    return MAPPER.valueToTree(value);
  }

  /**
   * Reads a document whose JSON has the components of a record.
   *
   * @throws ClusterException naming the document and what is wrong with it
   */
  public static <T> T read(VersionedDocument document, String problem, Class<T> type) {
    return read(document, problem, json -> MAPPER.treeToValue(json, type));
  }

  /**
   * Reads a document.
   *
   * @param problem what the message says about an invalid document, such as {@code is no lock}
   * @param reader throws {@link IllegalArgumentException} if something is missing or wrong
   * @throws ClusterException naming the document and what is wrong with it
   */
  public static <T> T read(
      VersionedDocument document, String problem, Function<JsonNode, T> reader) {
    try {
      return reader.apply(MAPPER.readTree(document.json()));
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException(
          "document %s %s: %s".formatted(document.key(), problem, e.getMessage()), e);
    }
  }
}
