package io.millrace.cluster.shared;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The permits of a semaphore: the locks {@code semaphore/NAME/1} to {@code semaphore/NAME/N}. N
 * stands in the document {@code semaphore/NAME}, as {@code {"permits": N}}, and is for ever what
 * the first one said who used it.
 *
 * @param name the semaphore's name
 * @param count how many there are, 1 to {@value #MOST}
 */
public record Permits(String name, int count) {
  /** What the keys of all semaphores begin with; the name follows. */
  public static final String PREFIX = "semaphore/";

  /** The most permits of a semaphore. */
  public static final int MOST = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Permits.class);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /**
   * Checks both.
   *
   * @throws IllegalArgumentException naming what is wrong
   */
  public Permits {
    Names.checkPart("semaphore", name);
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException(
          "a semaphore has 1 to %d permits, not %d".formatted(MOST, count));
    }
  }

  /** Whether what has this key does not say how many permits a semaphore has. */
  public static boolean isNoSize(String key) {
    return !key.startsWith(PREFIX) || key.indexOf('/', PREFIX.length()) >= 0;
  }

  /** The key of the document that says how many there are. */
  String key() {
    return PREFIX + name;
  }

  /** What the keys of the permits begin with; their numbers follow. */
  String prefix() {
    return key() + "/";
  }

  /** The keys of the permits, by number. */
  List<String> keys() {
    return IntStream.rangeClosed(1, count).mapToObj(number -> prefix() + number).toList();
  }

  /**
   * Sees to it that all agree about how many there are.
   *
   * @throws IllegalArgumentException where others say another number
   */
  void agree(VersionedDocuments documents) {
    Optional<VersionedDocument> document = documents.get(key());
    if (document.isEmpty()) {
      try {
        documents.put(key(), Version.NONE, "{\"permits\":" + count + "}");
      } catch (UnclearOutcomeException e) {
        LOG.debug("{} may be written, and is looked for", key(), e);
      }
      document = documents.get(key());
    }
    int there = document.map(Permits::read).orElseThrow(this::unclear);
    if (there != count) {
      throw new IllegalArgumentException(
          ("semaphore '%s' has %d permits in this cluster, not %d;"
                  + " another number needs another name")
              .formatted(name, there, count));
    }
  }

  private UnclearOutcomeException unclear() {
    return new UnclearOutcomeException("document " + key() + " could not be written");
  }

  private static int read(VersionedDocument document) {
    try {
      return MAPPER.readTree(document.json()).path("permits").asInt(0);
    } catch (JacksonException e) {
      throw new ClusterException(
          "document " + document.key() + " is damaged: " + e.getOriginalMessage(), e);
    }
  }
}
