package io.millrace.blobs.sql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobException;
import io.millrace.database.DatabaseAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blobs in a SQLite file. */
class SqliteBlobStoreTest extends SqlBlobStoreContract {
  @TempDir private Path folder;

  @Override
  DatabaseAddress database() {
    return DatabaseAddress.file(folder.resolve("blobs.db"));
  }

  @Test
  void a_file_that_is_no_database_is_named() throws Exception {
    Path other = Files.writeString(folder.resolve("text"), "This is a text. ".repeat(100));

    assertThatThrownBy(() -> SqlBlobTables.check(DatabaseAddress.file(other), "main"))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("sqlite:" + other);
  }
}
