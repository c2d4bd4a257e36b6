package io.millrace.cli.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.database.DatabaseAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the commands on archived work print. */
class ArchiveCommandsTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    Path file = scratch.resolve("data/archive.db");
    try (Archive archive = Archive.at(DatabaseAddress.file(file))) {
      archive.put(
          IntStream.range(0, 230)
              .mapToObj(i ->
                  ArchiveRow.of(ArchiveTable.JOBS, "job-" + (1_000 + i))
                      .put("job_key", "key, " + i)
                      .put("type", i == 7 ? "seventh" : "")
                      .put("status", "done")
                      .put("finished", 1_000L * i)
                      .put("archived", 1L)
                      .put("document", "{\"description\": \"the job " + i + "\"}")
                      .build())
              .toList());
      archive.put(List.of(node("7", "top", "finished", "[]"), node("8", "", "failed", "[\"7\"]")));
    }
  }

  private static ArchiveRow node(String id, String name, String state, String parents) {
    return ArchiveRow.of(ArchiveTable.GRAPHS, id)
        .put("graph", "7")
        .put("name", name)
        .put("state", state)
        .put("finished", 1_000L)
        .put("archived", 1L)
        .put("parents", parents)
        .build();
  }

  @AfterEach
  void close() {
    site.close();
  }

  private Shell.CommandResult run(String... arguments) {
    return site.run(
        Stream.concat(Stream.of("archive"), Stream.of(arguments)).toArray(String[]::new));
  }

  private List<String> lines(String... arguments) {
    Shell.CommandResult ran = run(arguments);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().lines().toList();
  }

  @Test
  void the_newest_are_listed_and_filters_choose() {
    assertThat(lines("list", "jobs")).hasSize(21);
    assertThat(lines("list", "jobs").get(1)).contains("job-1229", "key, 229", "done");
    assertThat(lines("list", "jobs", "-n", "0")).hasSize(231);
    assertThat(lines("list", "jobs", "--type", "seventh").getLast()).contains("job-1007");
    assertThat(lines("list", "jobs", "--oldest", "-n", "1").getLast()).contains("job-1000");
    assertThat(lines("list", "tasks")).hasSize(1);
    assertThat(lines("list", "graphs")).hasSize(3);
    assertThat(lines("list", "graphs", "--below", "8").getLast()).contains("8", "failed");
    assertThat(lines("list", "graphs", "--state", "finished", "--graph", "7").getLast())
        .contains("top");
  }

  @Test
  void one_is_shown_by_its_id_or_key() {
    assertThat(String.join("\n", lines("show", "jobs", "job-1007"))).contains("the job 7");
    assertThat(String.join("\n", lines("show", "jobs", "key, 8"))).contains("the job 8");
    assertThat(run("show", "jobs", "none").code()).isEqualTo(ExitCode.NOTHING);
  }

  @Test
  void all_are_exported_as_json_or_csv() {
    assertThat(lines("export", "jobs", "--oldest"))
        .hasSize(230)
        .first()
        .asString()
        .startsWith("{")
        .contains("\"the job 0\"");
    List<String> csv = lines("export", "jobs", "--csv", "--since", "1970-01-01T00:03:00Z");
    assertThat(csv).hasSize(51);
    assertThat(csv.getFirst()).startsWith("id,job_key,type,status");
    assertThat(csv.getLast()).startsWith("job-1180,\"key, 180\",,done");
  }

  @Test
  void how_long_jobs_stay_is_set_listed_and_taken_back() {
    assertThat(run("keep", "-", "--keep-count", "1000").code()).isZero();
    assertThat(lines("keep").getLast()).contains("-", "1000");
    assertThat(run("keep", "-", "--default").code()).isZero();
    assertThat(lines("keep").getLast()).doesNotContain("1000");
    assertThat(run("keep", "-").code()).isEqualTo(ExitCode.USAGE);
    assertThat(run("keep", "--keep-count", "1").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void what_is_wrong_is_said() {
    assertThat(run("list", "cats").code()).isEqualTo(ExitCode.USAGE);
    assertThat(run("list", "jobs", "-n", "-1").code()).isEqualTo(ExitCode.USAGE);
    Shell.CommandResult refused = run("list", "jobs", "--status", "pending");
    assertThat(refused.code()).isEqualTo(ExitCode.REFUSED);
    assertThat(refused.err()).contains("done or failed");
  }
}
