package io.millrace.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.database.DatabaseAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An archive in a SQLite file. */
class SqliteArchiveTest extends ArchiveContract {
  @TempDir Path folder;

  @Override
  DatabaseAddress location() {
    return again();
  }

  @Override
  DatabaseAddress again() {
    return DatabaseAddress.file(folder.resolve("data/archive.db"));
  }

  @Test
  void no_file_is_created_by_reading() {
    assertThat(archive.list(ArchiveQuery.newest(ArchiveTable.JOBS, 1))).isEmpty();
    assertThat(archive.find(ArchiveTable.TASKS, "a")).isEmpty();
    assertThat(archive.lastBatch(ArchiveTable.JOBS).ids()).isEmpty();
    assertThat(folder.resolve("data")).doesNotExist();
  }

  @Test
  void a_new_file_is_created_while_others_use_it() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path file = folder.resolve(round + "/archive.db");
      CyclicBarrier start = new CyclicBarrier(4);
      try (Archive fresh = Archive.at(DatabaseAddress.file(file));
          ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Integer>> uses = new ArrayList<>();
        for (int user = 0; user < start.getParties(); user++) {
          String id = "job" + user;
          uses.add(
              threads.submit(() -> {
                start.await();
                fresh.put(List.of(job(id, 1).build()));
                return fresh.list(ArchiveQuery.newest(ArchiveTable.JOBS, 9)).size();
              }));
        }
        for (Future<Integer> use : uses) {
          assertThat(use.get()).isPositive();
        }
        assertThat(fresh.count(ArchiveQuery.newest(ArchiveTable.JOBS, 1))).isEqualTo(uses.size());
      }
    }
  }

  @Test
  void a_file_that_is_no_database_is_named() throws Exception {
    Files.createDirectories(folder.resolve("data"));
    Files.writeString(folder.resolve("data/archive.db"), "not a database at all".repeat(100));
    assertThatThrownBy(() -> archive.list(ArchiveQuery.newest(ArchiveTable.JOBS, 1)))
        .isInstanceOf(ArchiveException.class)
        .hasMessageContaining("archive.db")
        .hasMessageContaining("not a database");
  }

  @Test
  void an_archive_of_a_newer_version_is_refused() throws Exception {
    archive.put(List.of(job("a", 1).build()));
    try (Connection connection = DriverManager.getConnection(again().url());
        Statement statement = connection.createStatement()) {
      statement.execute("UPDATE archive_version SET version = 99");
    }
    archive.close();
    archive = Archive.at(again());
    assertThatThrownBy(() -> archive.put(List.of(job("b", 1).build())))
        .isInstanceOf(ArchiveException.class)
        .hasMessageContaining("version 99");
  }

  @Test
  void an_archive_of_the_first_version_gets_the_tables_that_came_later() throws Exception {
    archive.put(List.of(job("a", 1).build()));
    archive.close();
    try (Connection connection = DriverManager.getConnection(again().url());
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE archived_graphs");
      statement.execute("UPDATE archive_version SET version = 1");
    }
    archive = Archive.at(again());
    archive.put(
        List.of(
            ArchiveRow.of(ArchiveTable.GRAPHS, "7")
                .put("graph", "7")
                .put("finished", 1L)
                .put("archived", 1L)
                .put("parents", "[]")
                .build()));
    assertThat(archive.find(ArchiveTable.GRAPHS, "7")).isPresent();
    assertThat(archive.find(ArchiveTable.JOBS, "a")).isPresent();
  }
}
