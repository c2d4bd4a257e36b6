package io.millrace.cli.schedules;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.Queue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SchedulesCommandsTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    var _ = site.queues().queues().create("work", "own", Queue.Settings.DEFAULTS);
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String done(String... arguments) {
    Shell.CommandResult ran = run(arguments);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  private Shell.CommandResult run(String... arguments) {
    return site.run(
        Stream.concat(Stream.of("schedules"), Stream.of(arguments)).toArray(String[]::new));
  }

  private JsonNode shown(String name) {
    return JsonMapper.shared().readTree(done("show", name, "--json"));
  }

  @Test
  void a_schedule_is_created_from_options() {
    assertThat(
            done(
                "create",
                "nightly",
                "--cron",
                "30 2 * * *",
                "--every",
                "12h",
                "--except",
                "2026-12-25",
                "--zone",
                "Europe/Berlin",
                "--overlap",
                "queue_one",
                "--jitter",
                "30s",
                "--pause-after",
                "3",
                "--queue",
                "work",
                "command=date",
                "n=5"))
        .startsWith("schedule nightly is next due at 2");
    JsonNode shown = shown("nightly");
    assertThat(shown.path("times")).hasSize(2);
    assertThat(shown.path("except").path(0).path("at").path(0).asString()).isEqualTo("2026-12-25");
    assertThat(shown.path("target").toString())
        .isEqualTo("{\"queue\":\"work\",\"params\":{\"command\":\"date\",\"n\":5}}");
    assertThat(shown.path("pause_after_failures").asInt()).isEqualTo(3);
    assertThat(done("list")).contains("nightly").contains("30 2 * * *; every 12h");
    assertThat(done("show", "nightly")).contains("Europe/Berlin");
  }

  @Test
  void a_schedule_runs_a_graph_file_or_a_job() throws IOException {
    Path file = scratch.resolve("build.yaml");
    Files.writeString(
        file,
        """
        nodes:
          test: {shell: exit 0, parents: build}
          build: {command: [echo, built], retries: 2}
        """);
    done("create", "graph", "--cron", "@yearly", "--graph", file.toString());
    assertThat(shown("graph").path("target").path("graph").path("nodes"))
        .hasToString(
            "[{\"metadata\":{\"type\":\"command\",\"name\":\"build\",\"parents\":[\"root\"],"
                + "\"local\":\"n0\"},\"data\":{\"command\":\"echo\",\"args\":[\"built\"],\"retries\":2}},{\"metadata\":{\"type\":\"shell"
                + " command\",\"name\":\"test\",\"parents\":[\"local:n0\"],\"local\":\"n1\"},\"data\":{\"command\":\"exit"
                + " 0\"}}]");
    assertThat(done("run", "graph")).isEqualTo("graph  started 1\n");
    done(
        "create", "job", "--cron", "@yearly", "--job", "--payload", "@" + file, "--priority=batch");
    assertThat(shown("job").path("target").path("job").path("payload").asString())
        .isEqualTo(Files.readString(file));
    assertThat(run("create", "x", "--cron", "@yearly", "--payload", "y", "-q", "work").err())
        .contains("need --job");
    assertThat(run("create", "x", "--cron", "@yearly", "--job", "-q", "work").err())
        .contains("one of --queue, --job, --graph and --target");
    assertThat(run("create", "x", "--cron", "@yearly", "--graph", "nope").err())
        .contains("there is no file nope");
  }

  @Test
  void a_schedule_is_read_from_a_file() throws IOException {
    Path file = scratch.resolve("schedule.json");
    Files.writeString(
        file,
        "{\"times\": [{\"at\": [\"2036-01-01T00:00:00Z\"]}], \"target\": {\"queue\": \"work\"}}");
    done("create", "once", "--file", file.toString());
    assertThat(done("next", "once", "-n", "5")).isEqualTo("2036-01-01T00:00Z\n");
  }

  @Test
  void times_are_printed_for_a_schedule_that_is_not_there_yet() {
    assertThat(done("preview", "-c", "0 12 * * MON", "-n", "2", "--after", "2026-11-23T12:00:00Z"))
        .isEqualTo("2026-11-30T12:00Z\n2026-12-07T12:00Z\n");
  }

  @Test
  void schedules_are_paused_resumed_run_backfilled_and_deleted() {
    done("create", "a", "--cron", "@daily", "-q", "work");
    done("create", "b", "--cron", "@daily", "-q", "work");
    assertThat(done("pause", "a", "b", "--note", "moving"))
        .isEqualTo("a  is paused\nb  is paused\n");
    assertThat(shown("a").path("paused").path("note").asString()).isEqualTo("moving");
    assertThat(done("list", "--paused")).contains("a ").contains("b ");
    assertThat(done("resume", "a")).startsWith("a  is next due at ");
    assertThat(done("list", "--no-paused")).doesNotContain("b  ");
    assertThat(done("list", "--text", "WORK", "--order", "due")).contains("a  ").contains("b  ");
    assertThat(done("list", "--text", "nothing of this")).doesNotContain("a  ");
    assertThat(done("run", "a")).startsWith("a  started ");
    assertThat(shown("a").path("active")).hasSize(1);
    assertThat(
            done(
                "backfill",
                "a",
                "--from",
                "2026-01-01T00:00:00Z",
                "--until",
                "2026-01-03T00:00:00Z"))
        .isEqualTo("backfills 3 runs of schedule a\n");
    assertThat(done("delete", "a")).isEqualTo("a  is deleted\n");
    Shell.CommandResult gone = run("delete", "a", "b");
    assertThat(gone.code()).isEqualTo(4);
    assertThat(gone.err()).contains("no schedule 'a'");
    assertThat(run("show", "b").code()).isEqualTo(4);
  }

  static Stream<List<String>> mistakes() {
    return Stream.of(
        List.of("2", "say when", "create", "x", "-q", "work"),
        List.of("2", "say what to run", "create", "x", "--cron", "@daily"),
        List.of(
            "2",
            "--from needs --every",
            "create",
            "x",
            "--at",
            "2030-01-01T00:00",
            "--from",
            "x",
            "-q",
            "w"),
        List.of("2", "--target", "create", "x", "--cron", "@daily", "--target", "[]"),
        List.of(
            "2",
            "--pause-after",
            "create",
            "x",
            "--cron",
            "@daily",
            "-q",
            "work",
            "--pause-after",
            "-1"),
        List.of("2", "--file", "create", "x", "--cron", "@daily", "--file", "nowhere"),
        List.of("3", "times[0].cron", "create", "x", "--cron", "61 * * * *", "-q", "work"),
        List.of("3", "no queue 'none'", "create", "x", "--cron", "@daily", "-q", "none"),
        List.of("4", "no schedule", "next", "none"),
        List.of("4", "no schedule", "run", "none"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void what_is_wrong_is_said_with_an_exit_code(List<String> mistake) {
    Shell.CommandResult ran = run(mistake.subList(2, mistake.size()).toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).hasToString(mistake.getFirst());
    assertThat(ran.err()).contains(mistake.get(1));
  }
}
