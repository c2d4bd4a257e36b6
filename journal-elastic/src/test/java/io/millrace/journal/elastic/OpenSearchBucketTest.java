package io.millrace.journal.elastic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.elastic.SearchEngine;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What differs in OpenSearch: replicas that copy segments are refused. */
final class OpenSearchBucketTest {
  private static ElasticJournalOptions place(SearchEngine engine, String index) {
    return ElasticJournalOptions.at("elasticsearch:" + engine.address() + "/" + index);
  }

  @Test
  void objects_are_kept_and_replication_by_segments_is_refused() throws Exception {
    try (SearchEngine engine = SearchEngine.opensearch()) {
      try (ElasticBucket bucket = new ElasticBucket(place(engine, "objects"))) {
        ObjectsProbe.run(bucket);
        engine.send("DELETE", "/objects-objects", null);
        assertThatThrownBy(() -> bucket.create("log/9", new byte[1]))
            .isInstanceOf(IOException.class);
        assertThat(engine.send("GET", "/_cat/indices?h=index", null)).doesNotContain("objects");
      }
      engine.send(
          "PUT",
          "/copied-objects",
          """
          {"settings":{"index.replication.type":"SEGMENT"},"aliases":{"copied":{}},
           "mappings":{"properties":{"key":{"type":"keyword"}}}}\
          """);
      assertThatThrownBy(() -> SharedJournal.check(place(engine, "copied")))
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("index.replication.type = SEGMENT");
    }
  }
}
