package io.millrace.archive;

import io.millrace.database.DatabaseAddress.Kind;

/** An archive in PostgreSQL. */
class PostgresqlArchiveTest extends ServerArchiveContract {
  PostgresqlArchiveTest() {
    super(Kind.POSTGRESQL);
  }
}
