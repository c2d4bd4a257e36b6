package io.millrace.archive;

import io.millrace.database.DatabaseAddress.Kind;

/** An archive in MariaDB. */
class MariadbArchiveTest extends ServerArchiveContract {
  MariadbArchiveTest() {
    super(Kind.MARIADB);
  }
}
