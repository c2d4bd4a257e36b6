package io.millrace.cluster.documents.elastic;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the responses of the engine. Both engines return a source exactly as it was sent, so
 * contents are copied from the response without being parsed.
 */
final class ElasticResponses {
  private static final JsonMapper JSON = new JsonMapper();

  private ElasticResponses() {}

  /** The exception for a response that no supported engine gives. */
  private static IOException strange(String what) {
    return new IOException("the answer is not one of Elasticsearch or OpenSearch: " + what);
  }

  private interface Reading<T> {
    T read(JsonParser parser) throws IOException;
  }

  private static <T> T read(byte[] body, Reading<T> reading) throws IOException {
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw strange("it is no object");
      }
      return reading.read(parser);
    } catch (JacksonException e) {
      throw new IOException("the answer cannot be read: " + e.getOriginalMessage(), e);
    }
  }

  /** The version that a change created. */
  static Version version(byte[] body) throws IOException {
    JsonNode answer = ElasticClient.tree(body);
    JsonNode number = answer.path("_seq_no");
    JsonNode term = answer.path("_primary_term");
    if (!number.isIntegralNumber() || !term.isIntegralNumber()) {
      throw strange("a change without sequence number");
    }
    return Hit.version(number.asLong(), term.asLong());
  }

  /** The requested document; empty if it does not exist. */
  static Optional<Hit> document(byte[] body) throws IOException {
    return read(body, parser -> hit(parser, body));
  }

  /** The documents that a search found. */
  static List<Hit> found(byte[] body) throws IOException {
    return read(
        body,
        parser -> {
          List<Hit> hits = new ArrayList<>();
          if (!enter(parser, "hits", JsonToken.START_OBJECT)
              || !enter(parser, "hits", JsonToken.START_ARRAY)) {
            throw strange("a search without hits");
          }
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            hits.add(hit(parser, body).orElseThrow(() -> strange("a hit without source")));
          }
          return hits;
        });
  }

  /** Enters a member of the current object; returns false if there is none. */
  private static boolean enter(JsonParser parser, String name, JsonToken kind) {
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean here = parser.currentName().equals(name);
      if (parser.nextToken() == kind && here) {
        return true;
      }
      parser.skipChildren();
    }
    return false;
  }

  private static Optional<Hit> hit(JsonParser parser, byte[] body) throws IOException {
    long number = -1;
    long term = -1;
    Source source = new Source();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "_seq_no" -> number = parser.getLongValue();
        case "_primary_term" -> term = parser.getLongValue();
        case "_source" -> source = source(parser, body);
        default -> parser.skipChildren();
      }
    }
    if (source.key.isEmpty()) {
      return Optional.empty();
    }
    if (number < 0 || term < 0) {
      throw strange("a document without sequence number");
    }
    return Optional.of(
        new Hit(
            source.write,
            new VersionedDocument(source.key, Hit.version(number, term), source.json)));
  }

  /** The source of a document, as it was sent. */
  private static final class Source {
    String key = "";
    String write = "";
    String json = "";
  }

  private static Source source(JsonParser parser, byte[] body) throws IOException {
    Source source = new Source();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "key" -> source.key = parser.getString();
        case "write" -> source.write = parser.getString();
        case "document" -> {
          int begin = (int) parser.currentTokenLocation().getByteOffset();
          parser.skipChildren();
          int end = (int) parser.currentTokenLocation().getByteOffset() + 1;
          source.json = new String(body, begin, end - begin, StandardCharsets.UTF_8);
        }
        default -> parser.skipChildren();
      }
    }
    if (source.key.isEmpty() || source.json.isEmpty()) {
      throw new IOException("the index contains a document that is not one of a cluster");
    }
    return source;
  }

  /**
   * A document as the engine returns it.
   *
   * @param write the random name of the write that created this version
   * @param document the document
   */
  record Hit(String write, VersionedDocument document) {
    /** The version with this number and term, as callers see it. */
    static Version version(long number, long term) {
      return new Version(number + "." + term);
    }
  }
}
