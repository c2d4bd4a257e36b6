package io.millrace.archive;

/** An archive in MariaDB. */
class MariadbArchiveTest extends ServerArchiveContract {
  @Override
  String property() {
    return "millrace.archive.mariadb";
  }
}
