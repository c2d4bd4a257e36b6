package io.millrace.cluster.documents.elastic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.VersionedDocumentsContract;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The contract of documents in a real engine. */
abstract class SearchEngineContract extends VersionedDocumentsContract {
  private static final Version FIRST = Version.NONE;

  abstract URI engine();

  @Override
  protected final DocumentsFixture newFixture() {
    return new ElasticFixture(engine());
  }

  /** A connection to the engine that loses answers. */
  @Nested
  class FailingConnections {
    @Test
    void a_change_whose_answer_is_lost_is_unclear_and_may_have_happened() throws Exception {
      try (ElasticFixture fixture = new ElasticFixture(engine());
          Proxy proxy = new Proxy(engine());
          VersionedDocuments far = through(proxy)) {
        Version version = far.put("leader", FIRST, "{\"a\":0}").orElseThrow();
        proxy.will(Proxy.Fault.DROP_ANSWER);
        assertThatThrownBy(() -> far.put("leader", version, "{\"a\":1}"))
            .isInstanceOf(UnclearOutcomeException.class);
        VersionedDocument written = fixture.open().get("leader").orElseThrow();
        assertThat(written.json()).isEqualTo("{\"a\":1}");
        assertThatThrownBy(() -> far.put("other", FIRST, "{}"))
            .isInstanceOf(UnclearOutcomeException.class);
        assertThatThrownBy(() -> far.delete("leader", written.version()))
            .isInstanceOf(UnclearOutcomeException.class);
        assertThat(fixture.open().get("leader")).isEmpty();
        assertThatThrownBy(() -> far.get("leader"))
            .isInstanceOf(DocumentsUnavailableException.class);
        assertThatThrownBy(() -> far.list("")).isInstanceOf(DocumentsUnavailableException.class);
      }
    }

    @Test
    void an_answer_that_comes_too_late_is_unclear_and_the_request_ends_in_time() throws Exception {
      try (ElasticFixture fixture = new ElasticFixture(engine());
          Proxy proxy = new Proxy(engine());
          VersionedDocuments far = through(proxy);
          VersionedDocuments hasty =
              ElasticDocuments.open(options(proxy).withTimeout(Duration.ofSeconds(2)))) {
        Version version = far.put("leader", FIRST, "{\"a\":0}").orElseThrow();
        assertThat(hasty.put("leader", version, "{\"a\":1}")).isPresent();
        VersionedDocument now = fixture.open().get("leader").orElseThrow();
        proxy.will(Proxy.Fault.KEEP_ANSWER);
        long begin = System.nanoTime();
        assertThatThrownBy(() -> hasty.put("leader", now.version(), "{\"a\":2}"))
            .isInstanceOf(UnclearOutcomeException.class)
            .hasMessageContaining("2s");
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
        assertThat(fixture.open().get("leader").orElseThrow().json()).isEqualTo("{\"a\":2}");
        assertThatThrownBy(() -> hasty.get("leader"))
            .isInstanceOf(DocumentsUnavailableException.class);
      }
    }

    @Test
    void a_write_that_is_executed_twice_does_not_conflict_with_itself() throws Exception {
      try (ElasticFixture fixture = new ElasticFixture(engine());
          Proxy proxy = new Proxy(engine());
          VersionedDocuments far = through(proxy)) {
        Version version = far.put("leader", FIRST, "{\"a\":0}").orElseThrow();
        proxy.will(Proxy.Fault.SEND_TWICE);
        Optional<Version> written = far.put("leader", version, "{\"a\":1}");
        assertThat(fixture.open().get("leader"))
            .contains(new VersionedDocument("leader", written.orElseThrow(), "{\"a\":1}"));
        assertThat(far.put("leader", version, "{\"a\":1}")).isEmpty();
        assertThat(far.put("other", FIRST, "{}")).isPresent();
      }
    }

    @Test
    void an_error_before_a_change_began_means_unavailable_and_any_other_error_unclear()
        throws Exception {
      try (ElasticFixture fixture = new ElasticFixture(engine());
          Proxy proxy = new Proxy(engine());
          VersionedDocuments far = through(proxy)) {
        assertThat(far.put("leader", FIRST, "{}")).isPresent();
        for (String certain :
            new String[] {
              "429 es_rejected_execution_exception",
              "503 cluster_block_exception",
              "429 circuit_breaking_exception",
              "403 security_exception",
              "401 security_exception",
              "400 illegal_argument_exception",
              "413 none"
            }) {
          proxy.says(certain);
          assertThatThrownBy(() -> far.put("other", FIRST, "{}"))
              .as(certain)
              .isInstanceOf(DocumentsUnavailableException.class)
              .hasMessageContaining(certain.substring(0, 3))
              .hasMessageContaining("the reason");
        }
        for (String unclear :
            new String[] {
              "503 unavailable_shards_exception", "500 exception", "502 none", "504 none"
            }) {
          proxy.says(unclear);
          assertThatThrownBy(() -> far.put("other", FIRST, "{}"))
              .as(unclear)
              .isInstanceOf(UnclearOutcomeException.class);
          assertThatThrownBy(() -> far.get("other"))
              .isInstanceOf(DocumentsUnavailableException.class);
        }
        assertThat(fixture.open().get("other")).isEmpty();
      }
    }

    @Test
    void an_index_with_another_mapping_is_not_changed() throws Exception {
      try (ElasticFixture fixture = new ElasticFixture(engine())) {
        fixture.send("PUT", "/foreign-documents", "{\"mappings\":{\"properties\":{}}}");
        ElasticOptions options = ElasticOptions.at(engine()).withPrefix("foreign-");
        try (VersionedDocuments foreign = ElasticDocuments.open(options)) {
          assertThatThrownBy(() -> foreign.put("leader", FIRST, "{}"))
              .isInstanceOf(DocumentsUnavailableException.class)
              .hasMessageContaining("foreign-documents")
              .hasMessageContaining("another prefix");
        }
        fixture.send("DELETE", "/foreign-documents", null);
      }
    }

    @Test
    void the_stored_documents_are_readable() throws IOException {
      try (ElasticFixture fixture = new ElasticFixture(engine())) {
        String json = "{\"holder\":\"2c717297\",\"expire\":1515527529288}";
        fixture.open().put("leader", FIRST, json);
        assertThat(fixture.send("GET", "/millrace-documents/_source/leader", null))
            .contains("\"key\":\"leader\"", "\"document\":" + json);
      }
    }

    private ElasticOptions options(Proxy proxy) {
      return ElasticOptions.at(proxy.address()).withTimeout(Duration.ofSeconds(30));
    }

    private VersionedDocuments through(Proxy proxy) {
      return ElasticDocuments.open(options(proxy));
    }
  }
}
