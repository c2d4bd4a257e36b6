package io.millrace.blobs.sql;

import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.DatabaseServer;

/** Blobs in PostgreSQL. */
class PostgresqlBlobStoreTest extends SqlBlobStoreContract {
  @Override
  DatabaseAddress database() {
    return DatabaseServer.shared(Kind.POSTGRESQL).address();
  }
}
