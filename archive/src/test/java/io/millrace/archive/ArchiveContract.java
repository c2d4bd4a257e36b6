package io.millrace.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.archive.ArchiveQuery.Condition;
import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.database.DatabaseAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an archive does, in whichever database. */
abstract class ArchiveContract {
  Archive archive;

  /** An empty database. */
  abstract DatabaseAddress location() throws Exception;

  @BeforeEach
  void open() throws Exception {
    archive = Archive.at(location());
  }

  @AfterEach
  void close() {
    if (archive != null) {
      archive.close();
    }
  }

  static ArchiveRow.Builder job(String id, long finished) {
    return ArchiveRow.of(ArchiveTable.JOBS, id)
        .put("type", "render")
        .put("status", "done")
        .put("finished", finished)
        .put("archived", 1L);
  }

  private List<String> ids(ArchiveQuery query) {
    return archive.list(query).stream().map(ArchiveRow::id).toList();
  }

  @Test
  void what_was_put_is_found_with_its_bytes() {
    ArchiveRow row =
        job("a", 17)
            .put("job_key", "scène 1 🎬")
            .put("failures", 3L)
            .put("payload", "in".getBytes(StandardCharsets.UTF_8))
            .put("result", new byte[] {0, 1, -1})
            .put("document", "{\"x\": \"\\u0000\"}")
            .build();
    archive.put(List.of(row));
    ArchiveRow found = archive.find(ArchiveTable.JOBS, "a").orElseThrow();
    assertThat(found.text("job_key")).isEqualTo("scène 1 🎬");
    assertThat(found.number("failures")).isEqualTo(3);
    assertThat(found.number("batch")).isNull();
    assertThat(found.bytes("payload")).asString().isEqualTo("in");
    assertThat(found.bytes("result")).containsExactly(0, 1, -1);
    assertThat(found.text("document")).isEqualTo("{\"x\": \"\\u0000\"}");
    assertThat(archive.find(ArchiveTable.JOBS, "job_key", "scène 1 🎬")).isPresent();
    assertThat(archive.find(ArchiveTable.JOBS, "A")).isEmpty();
    assertThat(archive.find(ArchiveTable.TASKS, "a")).isEmpty();
  }

  @Test
  void a_row_that_is_put_again_replaces_the_first() {
    archive.put(List.of(job("a", 17).put("worker", "w1").build(), job("b", 18).build()));
    archive.put(List.of(job("a", 19).build()));
    assertThat(ids(ArchiveQuery.newest(ArchiveTable.JOBS, 9))).containsExactly("a", "b");
    assertThat(archive.find(ArchiveTable.JOBS, "a").orElseThrow().text("worker")).isNull();
  }

  @Test
  void every_table_takes_every_column() {
    for (ArchiveTable table : ArchiveTable.values()) {
      ArchiveRow.Builder row = ArchiveRow.of(table, "id-1");
      for (ArchiveTable.Column column : table.columns()) {
        if (!column.name().equals("id")) {
          row.put(
              column.name(),
              switch (column.type()) {
                case TEXT -> "text of " + column.name();
                case JSON -> "{}";
                case NUMBER, TIME -> (long) column.name().length();
                case BYTES -> new byte[] {1};
              });
        }
      }
      archive.put(List.of(row.build()));
      assertThat(archive.find(table, "id-1").orElseThrow().values())
          .usingRecursiveComparison()
          .isEqualTo(row.build().values());
      archive.drop(table, List.of("id-1"));
      assertThat(archive.find(table, "id-1")).isEmpty();
    }
  }

  @Test
  void pages_go_through_all_rows_once_in_both_orders() {
    archive.put(
        IntStream.range(0, 25)
            .mapToObj(i -> job("id-" + (char) ('a' + i), 100 + i / 4).build())
            .toList());
    for (boolean newest : new boolean[] {true, false}) {
      List<String> read = new ArrayList<>();
      ArchiveQuery query = ArchiveQuery.newest(ArchiveTable.JOBS, 7).newestFirst(newest);
      List<ArchiveRow> page = archive.list(query);
      while (!page.isEmpty()) {
        page.forEach(row -> read.add(row.id()));
        String text = Cursor.of(page.getLast()).text();
        page = archive.list(query.after(Cursor.parse(text).orElseThrow()));
      }
      List<String> all = IntStream.range(0, 25).mapToObj(i -> "id-" + (char) ('a' + i)).toList();
      assertThat(read).isEqualTo(newest ? all.reversed() : all);
    }
  }

  @Test
  void conditions_choose_rows() {
    archive.put(
        List.of(
            job("a", 10).put("type", "x_").build(),
            job("b", 20).put("type", "x%1").build(),
            job("c", 30).put("type", "xy").put("status", "failed").build()));
    ArchiveQuery all = ArchiveQuery.newest(ArchiveTable.JOBS, 9);
    assertThat(ids(all.where(new Condition.OneOf("type", List.of("xy", "x_")))))
        .containsExactly("c", "a");
    assertThat(ids(all.where(new Condition.OneOf("type", List.of())))).isEmpty();
    assertThat(ids(all.where(new Condition.AtLeast("finished", 20L)))).containsExactly("c", "b");
    assertThat(ids(all.where(new Condition.LessThan("finished", 20L)))).containsExactly("a");
    assertThat(ids(all.where(new Condition.StartsWith("type", "x%")))).containsExactly("b");
    assertThat(ids(all.where(new Condition.StartsWith("type", "X")))).isEmpty();
    assertThat(
            ids(
                all.where(
                    new Condition.AnyOf(
                        List.of(
                            new Condition.StartsWith("type", "x_"),
                            new Condition.OneOf("status", List.of("failed")))))))
        .containsExactly("c", "a");
    assertThat(archive.count(all.where(new Condition.AtLeast("finished", 20L)))).isEqualTo(2);
    assertThatThrownBy(() -> ids(all.where(new Condition.AtLeast("1 = 1 --", 0L))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void texts_that_a_database_would_refuse_are_changed_in_columns() {
    String key = "k".repeat(511) + "🎬 and more";
    archive.put(List.of(job("a", 1).put("job_key", key).put("worker", "w\0x").build()));
    ArchiveRow found = archive.find(ArchiveTable.JOBS, "job_key", key).orElseThrow();
    assertThat(found.text("job_key")).isEqualTo("k".repeat(511));
    assertThat(found.text("worker")).isEqualTo("w\uFFFDx");
  }

  @Test
  void old_rows_are_trimmed() {
    archive.put(IntStream.range(0, 700).mapToObj(i -> job("j" + i, i).build()).toList());
    assertThat(archive.trim(ArchiveTable.JOBS, 600)).isTrue();
    assertThat(archive.trim(ArchiveTable.JOBS, 600)).isFalse();
    assertThat(archive.count(ArchiveQuery.newest(ArchiveTable.JOBS, 1))).isEqualTo(100);
  }

  @Test
  void the_last_batch_is_told_from_those_before() {
    archive.put(List.of(job("a", 1).put("archived", 5L).build()));
    archive.put(
        List.of(job("b", 1).put("archived", 6L).build(), job("c", 1).put("archived", 6L).build()));
    assertThat(archive.lastBatch(ArchiveTable.JOBS))
        .isEqualTo(new Archive.Batch(6, Set.of("b", "c")));
    assertThat(archive.present(ArchiveTable.JOBS, List.of("a", "b", "x"))).containsOnly("a", "b");
  }

  @Test
  void an_archive_is_opened_again_with_what_it_holds() throws Exception {
    archive.put(List.of(job("a", 1).build()));
    archive.close();
    archive = Archive.at(again());
    assertThat(ids(ArchiveQuery.newest(ArchiveTable.JOBS, 9))).containsExactly("a");
  }

  /** The same database. */
  abstract DatabaseAddress again() throws Exception;
}
