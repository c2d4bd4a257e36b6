package io.millrace.cli.cluster;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.elastic.ElasticDocuments;
import io.millrace.cluster.documents.elastic.SearchEngine;
import io.millrace.cluster.status.ClusterStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Documents in a real engine.
 *
 * @param prefix what the name of the index begins with
 */
record EngineFixture(SearchEngine engine, String prefix) implements DocumentsFixture {
  /** In an engine that may hold documents of an earlier test. */
  static DocumentsFixture empty(SearchEngine engine, String prefix) throws IOException {
    EngineFixture home = new EngineFixture(engine, prefix);
    engine.send("DELETE", home.index() + "?ignore_unavailable=true", null);
    return home;
  }

  private String index() {
    return "/" + prefix + "documents";
  }

  @Override
  public List<String> options() {
    List<String> options =
        new ArrayList<>(List.of("--documents", "elasticsearch:" + engine.address()));
    options.addAll(List.of("--index-prefix", prefix));
    engine
        .certificates()
        .ifPresent(file -> options.addAll(List.of("--certificates", file.toString())));
    return options;
  }

  @Override
  public Map<String, String> environment() {
    return engine.environment();
  }

  @Override
  public String lease() {
    return "4s";
  }

  @Override
  public String pace() {
    return "1s";
  }

  /** Listings are a second old unless the index is refreshed. */
  @Override
  public JsonNode status() throws IOException {
    engine.send("POST", index() + "/_refresh?ignore_unavailable=true", null);
    try (VersionedDocuments documents =
        ElasticDocuments.open(engine.options().withPrefix(prefix))) {
      return ClusterStatus.read(documents, System.currentTimeMillis()).json();
    }
  }
}
