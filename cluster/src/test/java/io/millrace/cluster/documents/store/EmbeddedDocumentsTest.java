package io.millrace.cluster.documents.store;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocumentsContract;

/** Documents of a store in this process keep their promises. */
final class EmbeddedDocumentsTest extends VersionedDocumentsContract {
  @Override
  protected DocumentsFixture newFixture() {
    return new StoreDocumentsFixture();
  }
}
