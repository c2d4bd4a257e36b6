package io.millrace.cluster.example;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * How far a file is: the document {@code offset/NAME}, with NAME in base64url, and {@code {"file":
 * NAME, "offset": N}} in it.
 *
 * @param file the file's name
 * @param version the version of the document
 * @param offset the first byte that was not brought over
 */
record Bookmark(String file, Version version, long offset) {
  private static final String PREFIX = "offset/";
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** The bookmark of a file, which is 0 in one that has none. */
  static Bookmark read(VersionedDocuments documents, String file) {
    Optional<VersionedDocument> document = documents.get(key(file));
    return document
        .map(found -> new Bookmark(file, found.version(), offset(found)))
        .orElseGet(() -> new Bookmark(file, Version.NONE, 0));
  }

  /** Moves it; empty where it is not what it was. */
  Optional<Bookmark> moved(VersionedDocuments documents, long to) {
    String json =
        MAPPER.writeValueAsString(MAPPER.createObjectNode().put("file", file).put("offset", to));
    return documents.put(key(file), version, json).map(now -> new Bookmark(file, now, to));
  }

  private static long offset(VersionedDocument document) {
    try {
      return Math.max(0, MAPPER.readTree(document.json()).path("offset").asLong(0));
    } catch (JacksonException e) {
      throw new ClusterException(
          "document " + document.key() + " is damaged: " + e.getOriginalMessage(), e);
    }
  }

  /** Names of files have characters that keys have not. */
  private static String key(String file) {
    byte[] bytes = file.getBytes(StandardCharsets.UTF_8);
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
