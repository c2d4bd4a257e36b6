package io.millrace.cluster.documents;

import org.junit.jupiter.api.Nested;

/**
 * Everything that a home of versioned documents must do. Extend it, supply a fixture, and all
 * topics run.
 */
public abstract class VersionedDocumentsContract {
  /** For subclasses. */
  protected VersionedDocumentsContract() {}

  /** An empty home; called once for each test. */
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
