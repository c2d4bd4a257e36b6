package io.millrace.cluster.documents.store;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocumentsContract;

/** The contract of versioned documents, for a store in this process. */
final class EmbeddedDocumentsTest extends VersionedDocumentsContract {
  @Override
  protected DocumentsFixture newFixture() {
    return new StoreDocumentsFixture();
  }
}
