package io.millrace.blobs.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.DatabaseBlobStoreContract;
import io.millrace.database.DatabaseAddress;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What blobs do in any SQL database. */
abstract class SqlBlobStoreContract extends DatabaseBlobStoreContract {
  /** What is before the names of stores, since tests share a database. */
  private final String prefix = UUID.randomUUID() + "-";

  private final String store = prefix + "main";

  /** A database that may have blobs of other stores. */
  abstract DatabaseAddress database() throws Exception;

  @Override
  protected BlobStore open(String name) throws Exception {
    return SqlBlobTables.open(database(), prefix + name, this::now);
  }

  @Override
  protected long contents() {
    return count("SELECT COUNT(*) FROM millrace_blob_contents WHERE store = '" + store + "'");
  }

  @Override
  protected long bytesArrived() {
    return count(
        "SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM millrace_blob_chunks WHERE content IN (SELECT"
            + " content FROM millrace_blob_contents WHERE store = '"
            + store
            + "')");
  }

  private long count(String sql) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).isTrue();
      return row.getLong(1);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private Connection connect() throws Exception {
    DatabaseAddress at = database();
    return DriverManager.getConnection(at.url(), at.user(), at.password());
  }

  private void execute(String sql) throws Exception {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @AfterEach
  void forget() throws Exception {
    var _ = blobs().exists("any");
    execute(
        "DELETE FROM millrace_blob_chunks WHERE content IN (SELECT content FROM"
            + " millrace_blob_contents WHERE store = '"
            + store
            + "')");
  }

  @Test
  void tables_of_a_newer_version_are_refused() throws Exception {
    blobs().exists("x");
    execute("INSERT INTO millrace_blob_version (version) VALUES (1000)");
    try {
      assertThatThrownBy(() -> SqlBlobTables.check(database(), store))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("version 1000");
    } finally {
      execute("DELETE FROM millrace_blob_version WHERE version = 1000");
    }
    SqlBlobTables.check(database(), store);
  }

  @Test
  void a_damaged_chunk_is_noticed() throws Exception {
    blobs().put("letters", new ByteArrayInputStream(new byte[] {1, 2, 3}));
    execute(
        "UPDATE millrace_blob_chunks SET bytes = '' WHERE content IN (SELECT content FROM"
            + " millrace_blobs WHERE store = '"
            + store
            + "')");

    try (BlobStream in = blobs().open("letters")) {
      assertThatThrownBy(in::readAllBytes)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("letters is damaged");
    }
  }
}
