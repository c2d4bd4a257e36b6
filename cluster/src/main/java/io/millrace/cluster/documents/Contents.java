package io.millrace.cluster.documents;

import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** Whether a text is an object of JSON that every home of documents can keep as it is. */
final class Contents {
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(VersionedDocuments.JSON_LEVELS)
                          .build())
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private Contents() {}

  /**
   * Checks that it is one object and nothing around it: some homes keep it among other JSON, and
   * give back what lies between its braces.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  static void check(String key, String json) {
    if (!json.startsWith("{") || !json.endsWith("}")) {
      throw new IllegalArgumentException(
          "document " + key + " would not be an object of JSON from its first to its last brace");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(json)) {
      throw new IllegalArgumentException("document " + key + " would have half a surrogate pair");
    }
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      parser.skipChildren();
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("document " + key + " would be more than one object");
      }
    } catch (JacksonException e) {
      throw new IllegalArgumentException(
          "document " + key + " would not be an object of JSON: " + e.getOriginalMessage(), e);
    }
  }
}
