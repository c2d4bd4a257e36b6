package io.millrace.archive;

/** An archive in PostgreSQL. */
class PostgresqlArchiveTest extends ServerArchiveContract {
  @Override
  String property() {
    return "millrace.archive.postgresql";
  }
}
