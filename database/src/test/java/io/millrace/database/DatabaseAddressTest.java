package io.millrace.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.database.DatabaseAddress.Behavior;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
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
