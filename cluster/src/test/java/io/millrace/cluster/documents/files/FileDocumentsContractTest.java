package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.VersionedDocumentsContract;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract of versioned documents, for files. */
final class FileDocumentsContractTest extends VersionedDocumentsContract {
  @TempDir private static Path folder;
  private static int homes;

  @Override
  protected DocumentsFixture newFixture() {
    return new Fixture(folder.resolve("" + homes++));
  }

  private record Fixture(Path home) implements DocumentsFixture {
    @Override
    public VersionedDocuments open() {
      return FileDocuments.open(home);
    }

    @Override
    public VersionedDocuments unreachable() {
      Path other = home.resolveSibling(home.getFileName() + "-gone");
      VersionedDocuments documents = FileDocuments.open(other);
      try {
        Trash.removeWhole(new Disk(), other);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      return documents;
    }

    /** The folder is removed with the tests. */
    @Override
    public void close() {}
  }
}
