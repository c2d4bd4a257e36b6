package io.millrace.archive;

import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.DatabaseServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;

/** An archive in a real database server, which the tests start. */
abstract class ServerArchiveContract extends ArchiveContract {
  private final Kind kind;

  ServerArchiveContract(Kind kind) {
    this.kind = kind;
  }

  @Override
  DatabaseAddress location() throws Exception {
    DatabaseAddress location = again();
    try (Connection connection =
            DriverManager.getConnection(location.url(), location.user(), location.password());
        Statement statement = connection.createStatement()) {
      for (ArchiveTable table : ArchiveTable.values()) {
        statement.execute("DROP TABLE IF EXISTS " + table.tableName());
      }
      statement.execute("DROP TABLE IF EXISTS archive_version");
    }
    return location;
  }

  @Override
  DatabaseAddress again() {
    return DatabaseServer.shared(kind).address();
  }
}
