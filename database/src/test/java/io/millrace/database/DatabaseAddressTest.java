package io.millrace.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.database.DatabaseAddress.Behavior;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of databases; contracts elsewhere use their servers. */
class DatabaseAddressTest {
  private static final Behavior BEHAVIOR =
      new Behavior("test", Duration.ZERO, Duration.ofSeconds(7), true);

  @TempDir private Path folder;

  @Test
  void an_address_shows_no_password() {
    assertThat(new DatabaseAddress("jdbc:postgresql://db/x", "me", "secret"))
        .hasToString("postgresql://db/x as me");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:oracle:x",
        "jdbc:sqlite:",
        "http://x",
        "",
        "postgresql://h/d",
        "jdbc:postgresql://h/d?PASSWORD=x"
      })
  void others_are_refused(String url) {
    assertThatThrownBy(() -> new DatabaseAddress(url, null, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_file_is_created_with_its_folder_and_commits_are_durable() throws Exception {
    try (Connection connection =
            DatabaseAddress.file(folder.resolve("new/a.db")).connect(BEHAVIOR);
        Statement statement = connection.createStatement()) {
      assertThat(connection.getAutoCommit()).isTrue();
      assertThat(pragma(statement, "journal_mode")).isEqualTo("wal");
      assertThat(pragma(statement, "synchronous")).isEqualTo("2");
      assertThat(pragma(statement, "busy_timeout")).isEqualTo("7000");
    }
  }

  @Test
  void many_can_open_a_new_file_at_once() throws Exception {
    for (int round = 0; round < 20; round++) {
      DatabaseAddress file = DatabaseAddress.file(folder.resolve("many-" + round + ".db"));
      Callable<String> opening =
          () -> {
            try (Connection connection = file.connect(BEHAVIOR);
                Statement statement = connection.createStatement()) {
              statement.execute("CREATE TABLE IF NOT EXISTS some (it TEXT)");
              return pragma(statement, "journal_mode");
            }
          };
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (Future<String> opened : threads.invokeAll(Collections.nCopies(8, opening))) {
          assertThat(opened.get()).isEqualTo("wal");
        }
      }
    }
  }

  @Test
  void a_file_in_which_another_one_writes_is_waited_for_so_long_and_no_longer() throws Exception {
    DatabaseAddress file = DatabaseAddress.file(folder.resolve("a.db"));
    Behavior patient = new Behavior("test", Duration.ZERO, Duration.ofMillis(50), true);
    try (Connection writer = DriverManager.getConnection(file.url());
        Statement statement = writer.createStatement()) {
      statement.execute("BEGIN EXCLUSIVE");
      assertThatThrownBy(() -> file.connect(patient))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("SQLITE_BUSY");
      statement.execute("COMMIT");
    }
    try (Connection connection = file.connect(patient)) {
      assertThat(connection.isValid(1)).isTrue();
    }
  }

  private static String pragma(Statement statement, String name) throws SQLException {
    try (ResultSet found = statement.executeQuery("PRAGMA " + name)) {
      return found.getString(1);
    }
  }

  @Test
  void a_folder_that_cannot_be_created_is_named() throws Exception {
    Files.writeString(folder.resolve("file"), "");
    assertThatThrownBy(() -> DatabaseAddress.file(folder.resolve("file/a.db")).connect(BEHAVIOR))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("a.db");
  }
}
