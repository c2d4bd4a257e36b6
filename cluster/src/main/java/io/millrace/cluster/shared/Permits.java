package io.millrace.cluster.shared;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The permits of a semaphore: the locks {@code semaphore/NAME/1} to {@code semaphore/NAME/N}. The
 * document {@code semaphore/NAME} holds N as {@code {"permits": N}}. The first user of the name
 * chooses it permanently.
 *
 * @param name the semaphore's name
 * @param count the number of permits, 1 to {@value #MAX_PERMITS}
 */
public record Permits(String name, int count) {
  /** The prefix of the keys of all semaphores; the name follows. */
  public static final String PREFIX = "semaphore/";

  /** The maximum number of permits of a semaphore. */
  public static final int MAX_PERMITS = 1000;

  /**
   * Checks both.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public Permits {
    SharedState.checkNamePart("semaphore", name);
    if (count < 1 || count > MAX_PERMITS) {
      throw new IllegalArgumentException(
          "a semaphore has 1 to %d permits, not %d".formatted(MAX_PERMITS, count));
    }
  }

  /** Whether this is the key of the document that holds a semaphore's number of permits. */
  public static boolean isCount(String key) {
    return key.startsWith(PREFIX) && key.indexOf('/', PREFIX.length()) < 0;
  }

  /** The key of the document that holds the number of permits. */
  String key() {
    return PREFIX + name;
  }

  /** The prefix of the keys of the permits; their numbers follow. */
  String prefix() {
    return key() + "/";
  }

  /** The keys of the permits, by number. */
  List<String> keys() {
    return IntStream.rangeClosed(1, count).mapToObj(number -> prefix() + number).toList();
  }

  /**
   * Checks that all members use the same number of permits.
   *
   * @throws IllegalArgumentException if another number was chosen before
   */
  void checkCount(VersionedDocuments documents) {
    VersionedDocument document = documents.createIfAbsent(key(), "{\"permits\":" + count + "}");
    int there = DocumentJson.read(document, "is damaged", json -> json.path("permits").asInt(0));
    if (there != count) {
      throw new IllegalArgumentException(
          ("semaphore '%s' has %d permits in this cluster, not %d;"
                  + " another number needs another name")
              .formatted(name, there, count));
    }
  }
}
