package io.millrace.cluster.documents;

import java.nio.charset.StandardCharsets;

/** The rules for keys and contents, which every home of documents asks before anything else. */
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
   * Checks what keys may begin with, which may be empty.
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
   * Checks a key and what is to be written under it.
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
}
