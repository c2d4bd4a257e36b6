package io.millrace.cluster.documents.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.environment.FaultyStore;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoreDocumentsTest {
  private final EmbeddedFixture fixture = new EmbeddedFixture(1);
  private final TaskStore store = fixture.store();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void documents_are_in_a_collection_of_their_own() {
    VersionedDocuments documents = StoreDocuments.of(store);
    documents.put("leader", Version.NONE, "{}");
    assertThat(store.document(new DocumentKey("cluster", "leader")).value()).isPresent();
    assertThat(StoreDocuments.in(store, "other").get("leader")).isEmpty();
    assertThat(StoreDocuments.in(store, "other").list("")).isEmpty();
  }

  @Test
  void a_watch_reports_changes_of_its_document_until_it_is_closed() throws InterruptedException {
    VersionedDocuments documents = StoreDocuments.of(store);
    Semaphore told = new Semaphore(0);
    Semaphore other = new Semaphore(0);
    VersionedDocuments.Watch watch = documents.watch("lock/a", told::release).orElseThrow();
    try (VersionedDocuments.Watch _ = documents.watch("lock/b", other::release).orElseThrow()) {
      // Who watches when the subscription opens is notified, to read earlier changes: the first
      // one, and the other one if it is quick.
      told.acquire();
      Version version = documents.put("lock/a", Version.NONE, "{}").orElseThrow();
      told.acquire();
      other.drainPermits();
      watch.close();
      documents.delete("lock/a", version);
      documents.put("lock/b", Version.NONE, "{}");
      other.acquire();
      assertThat(told.availablePermits()).isZero();
    }
    documents.close();
    assertThat(documents.watch("lock/a", told::release)).isEmpty();
  }

  @Test
  void a_lost_answer_is_unclear_and_a_request_that_was_never_sent_is_not() {
    BadConnection connection = new BadConnection();
    VersionedDocuments documents = StoreDocuments.of(new FaultyStore(() -> store, connection));
    Version version = documents.put("leader", Version.NONE, "{}").orElseThrow();
    connection.answers = false;
    assertThatThrownBy(() -> documents.put("leader", version, "{\"a\":1}"))
        .isInstanceOf(UnclearOutcomeException.class);
    VersionedDocument written = documents.get("leader").orElseThrow();
    assertThat(written.json()).isEqualTo("{\"a\":1}");
    assertThatThrownBy(() -> documents.delete("leader", written.version()))
        .isInstanceOf(UnclearOutcomeException.class);
    connection.reaches = false;
    assertThatThrownBy(() -> documents.put("other", Version.NONE, "{}"))
        .isInstanceOf(DocumentsUnavailableException.class)
        .hasMessageContaining("the line is broken");
    connection.reaches = true;
    assertThat(documents.get("other")).isEmpty();
  }

  private static final class BadConnection implements FaultyStore.Faults {
    boolean reaches = true;
    boolean answers = true;

    @Override
    public boolean reaches() {
      return reaches;
    }

    @Override
    public boolean answers() {
      return answers;
    }
  }

  @Test
  void a_store_that_has_no_room_is_unavailable() {
    VersionedDocuments documents = StoreDocuments.of(store);
    String large = "{\"a\":\"" + "x".repeat(fixture.limits().dataBytes()) + "\"}";
    assertThatThrownBy(() -> documents.put("leader", Version.NONE, large))
        .isInstanceOf(DocumentsUnavailableException.class)
        .hasMessageContaining("the store refuses");
    assertThat(documents.get("leader")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "-1", "0", "1.5"})
  void a_version_of_another_implementation_is_refused(String text) {
    VersionedDocuments documents = StoreDocuments.of(store);
    documents.put("leader", Version.NONE, "{}");
    assertThatThrownBy(() -> documents.put("leader", new Version(text), "{}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text);
    assertThatThrownBy(() -> documents.delete("leader", new Version(text)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closing_leaves_the_store_open_unless_it_is_owned() {
    StoreDocuments.of(store).close();
    assertThat(store.groups().value()).isEqualTo(List.of());
    StoreDocuments.owning(store).close();
    Transaction late =
        Transaction.by(Owner.client(1))
            .put(new DocumentKey("a", "b"), DocumentVersion.ANY, Bytes.EMPTY)
            .build();
    assertThatThrownBy(() -> store.commit(late)).isInstanceOf(StoreClosedException.class);
  }
}
