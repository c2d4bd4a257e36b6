package io.millrace.cluster.documents;

/** A home of documents for one test, empty at first, with what the test may do to it. */
public interface DocumentsFixture extends AutoCloseable {
  /** The documents as one more process would open them; the fixture closes them in the end. */
  VersionedDocuments open();

  /** Returns when a listing shows all that has been written; nothing is to be done by default. */
  default void settle() {}

  /** Documents whose home cannot be reached, or has gone; the fixture closes them in the end. */
  VersionedDocuments unreachable();

  /** Closes what was opened and gives everything back. */
  @Override
  void close();
}
