package io.millrace.cluster.documents;

import java.util.List;
import java.util.Optional;

/** The fixture of a test that has not begun. */
final class UnopenedFixture implements DocumentsFixture {
  static final DocumentsFixture FIXTURE = new UnopenedFixture();

  static final VersionedDocuments DOCUMENTS =
      new VersionedDocuments() {
        @Override
        public Optional<VersionedDocument> get(String key) {
          throw notYet();
        }

        @Override
        public Optional<Version> put(String key, Version expected, String json) {
          throw notYet();
        }

        @Override
        public boolean delete(String key, Version expected) {
          throw notYet();
        }

        @Override
        public List<VersionedDocument> list(String prefix) {
          throw notYet();
        }

        @Override
        public void close() {}
      };

  private UnopenedFixture() {}

  private static IllegalStateException notYet() {
    return new IllegalStateException("the test has not begun");
  }

  @Override
  public VersionedDocuments open() {
    throw notYet();
  }

  @Override
  public VersionedDocuments unreachable() {
    throw notYet();
  }

  @Override
  public void close() {}
}
