package io.millrace.cluster.documents;

import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** The rules for keys and contents, which every implementation checks first. */
public final class Keys {
  private Keys() {}

  /**
   * Checks a key.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public static void check(String key) {
    if (key.isEmpty()) {
      throw new IllegalArgumentException("a document's key is empty");
    }
    checkPrefix(key);
  }

  /**
   * Checks a prefix of keys, which may be empty.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public static void checkPrefix(String prefix) {
    int length = prefix.getBytes(StandardCharsets.UTF_8).length;
    if (length > VersionedDocuments.KEY_BYTES) {
      throw new IllegalArgumentException(
          "a document's key has 1 to %d bytes, not %d"
              .formatted(VersionedDocuments.KEY_BYTES, length));
    }
    if (prefix.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("a document's key has no control characters");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(prefix)) {
      throw new IllegalArgumentException("a document's key has half of a surrogate pair");
    }
  }

  /**
   * Checks a key and the content to be written.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public static void check(String key, String json) {
    check(key);
    int length = json.getBytes(StandardCharsets.UTF_8).length;
    if (length > VersionedDocuments.JSON_BYTES) {
      throw new IllegalArgumentException(
          "document %s would have %d bytes, more than %d"
              .formatted(key, length, VersionedDocuments.JSON_BYTES));
    }
    Contents.check(key, json);
  }

  /**
   * Checks a key and the version to delete.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public static void checkDelete(String key, Version expected) {
    check(key);
    if (expected.equals(Version.NONE)) {
      throw new IllegalArgumentException("a document that does not exist cannot be deleted");
    }
  }

  /**
   * The SHA-256 of a text's UTF-8 in hexadecimal digits, which replaces a text that is too long for
   * a key.
   */
  public static String hash(String text) {
    return Sha256.hex(text);
  }

  /** Checks that every implementation can store a content unchanged. */
  private static final class Contents {
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
     * Checks that a content is one object with nothing around it. Some implementations embed it in
     * other JSON, and return the text from its first to its last brace.
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
}
