package io.millrace.graph;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.Base64;
import tools.jackson.databind.node.ObjectNode;

/**
 * What is true of the whole graph. Every change writes it at the version that it had, so of two
 * that write a graph only one gets on.
 *
 * @param document the version of the stored document; 0 where there is none yet
 * @param next the id that the next node gets
 * @param version that of the graph
 * @param writer who wrote that version of the graph
 * @param secret what only the servers of this graph know
 * @param pending in how many parts a change is written down that has happened and is not spread
 *     over its documents yet
 */
record Head(long document, long next, long version, String writer, Bytes secret, int pending) {

  static Head first(byte[] secret) {
    return new Head(0, 1, 0, "", Bytes.copyOf(secret), 0);
  }

  static Head read(Document document) {
    return Json.read(
        document,
        json ->
            new Head(
                document.version(),
                json.required("next").asLong(),
                json.required("version").asLong(),
                json.required("writer").asString(),
                Bytes.copyOf(Base64.getDecoder().decode(json.required("secret").asString())),
                json.path("pending").asInt(0)));
  }

  Bytes write() {
    ObjectNode json = Json.object();
    json.put("next", next);
    json.put("version", version);
    json.put("writer", writer);
    json.put("secret", Base64.getEncoder().encodeToString(secret.toArray()));
    if (pending > 0) {
      json.put("pending", pending);
    }
    return Json.write(json);
  }

  Head stored(long asDocument) {
    return new Head(asDocument, next, version, writer, secret, pending);
  }

  /** After a change. */
  Head after(long newNext, long newVersion, String by, int newPending) {
    return new Head(document, newNext, newVersion, by, secret, newPending);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "head of version " + version + " by " + writer + ", next id " + next;
  }
}
