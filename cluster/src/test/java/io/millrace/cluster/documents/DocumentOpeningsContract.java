package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Documents that are opened several times, closed, or unreachable. */
public abstract class DocumentOpeningsContract extends DocumentsContractTopic {
  /** For subclasses. */
  protected DocumentOpeningsContract() {}

  @Test
  void a_written_document_can_be_read_at_once_by_another_process() {
    VersionedDocuments other = fixture().open();
    Version version = make("leader", says("0"));
    for (int i = 1; i < 20; i++) {
      assertThat(other.get("leader"))
          .contains(new VersionedDocument("leader", version, says("" + (i - 1))));
      version = other.put("leader", version, says("" + i)).orElseThrow();
      holds("leader", version, says("" + i));
      VersionedDocuments swap = i % 2 == 0 ? fixture().open() : other;
      version = swap.put("leader", version, says("" + i)).orElseThrow();
    }
    assertThat(other.delete("leader", version)).isTrue();
    assertThat(documents().get("leader")).isEmpty();
  }

  @Test
  void closed_documents_refuse_requests_and_stay_open_for_others() {
    VersionedDocuments other = fixture().open();
    Version version = make("leader", says("1"));
    documents().close();
    documents().close();
    unavailable(documents(), version);
    assertThat(other.get("leader")).contains(new VersionedDocument("leader", version, says("1")));
    other.close();
    assertThat(fixture().open().get("leader"))
        .contains(new VersionedDocument("leader", version, says("1")));
  }

  @Test
  void documents_that_cannot_be_reached_are_unavailable() {
    unavailable(fixture().unreachable(), make("leader", says("1")));
  }

  private static void unavailable(VersionedDocuments documents, Version version) {
    assertThatThrownBy(() -> documents.get("leader"))
        .isInstanceOf(DocumentsUnavailableException.class);
    assertThatThrownBy(() -> documents.put("leader", version, says("2")))
        .isInstanceOf(DocumentsUnavailableException.class);
    assertThatThrownBy(() -> documents.put("other", Version.NONE, says("2")))
        .isInstanceOf(DocumentsUnavailableException.class);
    assertThatThrownBy(() -> documents.delete("leader", version))
        .isInstanceOf(DocumentsUnavailableException.class);
    assertThatThrownBy(() -> documents.list("")).isInstanceOf(DocumentsUnavailableException.class);
  }

  @Test
  void closed_documents_still_refuse_an_invalid_key() {
    documents().close();
    assertThatThrownBy(() -> documents().get("")).isInstanceOf(IllegalArgumentException.class);
  }
}
