package io.millrace.cluster.documents;

/** The storage of documents for one test, empty at first. */
public interface DocumentsFixture extends AutoCloseable {
  /** Opens the documents as another process would; the fixture closes them at the end. */
  VersionedDocuments open();

  /** Waits until listings show everything that was written; does nothing by default. */
  default void settle() {}

  /**
   * Opens documents whose storage cannot be reached or is gone; the fixture closes them at the end.
   */
  VersionedDocuments unreachable();

  /** Closes the opened documents and releases all resources. */
  @Override
  void close();
}
