package io.millrace.cluster.documents.elastic;

import io.millrace.cluster.documents.elastic.Engine.Answer;
import java.io.IOException;
import tools.jackson.databind.JsonNode;

/**
 * The index of the documents. It has one shard, so that the engine counts all changes in one
 * sequence; a copy of it where there is a second machine; and of a document only its key can be
 * searched.
 */
final class Index {
  private static final String DEFINITION =
      """
      {"settings":{"number_of_shards":1,"auto_expand_replicas":"0-1"},
       "mappings":{"dynamic":false,"properties":{
         "key":{"type":"keyword"},
         "write":{"type":"keyword","index":false,"doc_values":false},
         "document":{"type":"object","enabled":false}}}}\
      """;

  private final Engine engine;
  private final String name;
  private volatile boolean there;

  Index(Engine engine, String prefix) {
    this.engine = engine;
    this.name = prefix + "documents";
  }

  /** Its path at the engine. */
  String path() {
    return "/" + name;
  }

  /**
   * Makes it where it is absent; any number of members may do so at once.
   *
   * @throws IOException when it cannot be made, or is somebody else's; no document was touched
   */
  void ensure() throws IOException {
    if (there) {
      return;
    }
    Answer mapping = engine.send("GET", path() + "/_mapping", null);
    if (mapping.status() == 404) {
      Answer made = engine.send("PUT", path(), DEFINITION);
      boolean lost =
          made.status() == 400
              && Answers.errorType(made.body()).equals("resource_already_exists_exception");
      if (made.status() != 200 && !lost) {
        throw refused(made);
      }
      mapping = engine.send("GET", path() + "/_mapping", null);
    }
    if (mapping.status() != 200) {
      throw refused(mapping);
    }
    JsonNode properties =
        Answers.tree(mapping.body()).path(name).path("mappings").path("properties");
    if (!properties.path("key").path("type").asString("").equals("keyword")
        || properties.path("document").path("enabled").asBoolean(true)) {
      throw new IOException(
          "index " + name + " was not made for these documents; choose another prefix");
    }
    there = true;
  }

  private IOException refused(Answer answer) {
    return new IOException(
        "index %s: status %d: %s".formatted(name, answer.status(), Answers.error(answer.body())));
  }
}
