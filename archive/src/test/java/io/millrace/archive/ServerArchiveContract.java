package io.millrace.archive;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;

/** An archive in a database server that whoever runs the tests names; skipped without one. */
abstract class ServerArchiveContract extends ArchiveContract {
  /** The system property with the JDBC address, whose tables the tests drop. */
  abstract String property();

  @Override
  ArchiveLocation location() throws Exception {
    ArchiveLocation location = again();
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
  ArchiveLocation again() {
    List<String> parts = List.of(System.getProperty(property(), "").split(",", -1));
    assumeTrue(
        parts.size() == 3,
        "no server: give its address, user and password, separated by commas, as -D" + property());
    return ArchiveLocation.of(parts.get(0), parts.get(1), parts.get(2));
  }
}
