package io.millrace.cluster.documents;

import org.junit.jupiter.api.Nested;

/**
 * The contract of all implementations of versioned documents. Extend it and supply a fixture to run
 * all topics.
 */
public abstract class VersionedDocumentsContract {
  /** For subclasses. */
  protected VersionedDocumentsContract() {}

  /** Creates an empty storage; called once for each test. */
  protected abstract DocumentsFixture newFixture();

  @Nested
  class Changes extends DocumentChangesContract {
    @Override
    protected DocumentsFixture newFixture() {
      return VersionedDocumentsContract.this.newFixture();
    }
  }

  @Nested
  class Contents extends DocumentContentsContract {
    @Override
    protected DocumentsFixture newFixture() {
      return VersionedDocumentsContract.this.newFixture();
    }
  }

  @Nested
  class Listings extends DocumentListingsContract {
    @Override
    protected DocumentsFixture newFixture() {
      return VersionedDocumentsContract.this.newFixture();
    }
  }

  @Nested
  class Races extends DocumentRacesContract {
    @Override
    protected DocumentsFixture newFixture() {
      return VersionedDocumentsContract.this.newFixture();
    }
  }

  @Nested
  class Openings extends DocumentOpeningsContract {
    @Override
    protected DocumentsFixture newFixture() {
      return VersionedDocumentsContract.this.newFixture();
    }
  }
}
