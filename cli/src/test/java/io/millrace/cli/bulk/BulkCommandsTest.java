package io.millrace.cli.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.queues.registry.TaskIndex.KindCounts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What the commands on bulk actions ask, do and print. */
class BulkCommandsTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;
  private Queue mail;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    mail = site.queues().queues().create("mail", "own", Queue.Settings.DEFAULTS);
    List<ObjectNode> params = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      params.add(JsonMapper.shared().createObjectNode().put("n", i % 3).put("name", "x" + i % 2));
    }
    site.queues().submission().submit(mail, params, Status.QUEUED);
  }

  @AfterEach
  void close() {
    site.close();
  }

  private Shell.CommandResult reading(String input, String... arguments) {
    return site.runReading(
        input, Stream.concat(Stream.of("bulk"), Stream.of(arguments)).toArray(String[]::new));
  }

  private Shell.CommandResult run(String... arguments) {
    return reading("", arguments);
  }

  private KindCounts counts() {
    return Objects.requireNonNull(site.queues().index().counts().get(mail.id()));
  }

  @Test
  void the_number_is_shown_first_and_nothing_happens_without_a_yes() {
    Shell.CommandResult refused = reading("n\n", "tasks", "cancel", "--queue", "mail");
    assertThat(refused.code()).isEqualTo(ExitCode.FAILURE);
    assertThat(refused.err()).contains("cancel 30 tasks? [y/N]", "nothing was changed");
    assertThat(run("tasks", "cancel", "--all").code()).isEqualTo(ExitCode.FAILURE);
    assertThat(counts().queued()).isEqualTo(30);

    Shell.CommandResult done =
        reading("y\n", "tasks", "block", "-Q", "mail", "-p", "n=1", "--reason", "later", "--wait");
    assertThat(done.code()).as(done.err()).isZero();
    assertThat(done.out()).contains("done").contains("10");
    assertThat(counts().held()).isEqualTo(10);
  }

  @Test
  void a_dry_run_shows_some_items_and_changes_nothing() {
    Shell.CommandResult shown = run("tasks", "cancel", "--param", "name=x1", "--dry-run");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("total", "15", "queued, queue mail");
    assertThat(counts().queued()).isEqualTo(30);
    assertThat(run("list").out().lines()).hasSize(1);
  }

  @Test
  void actions_are_listed_shown_and_forgotten() {
    Shell.CommandResult done = run("tasks", "delete", "--status", "queued", "--yes", "--wait");
    assertThat(done.code()).as(done.err()).isZero();
    String row = run("list").out().lines().toList().getLast();
    assertThat(row).contains("tasks", "delete", "done", "30");
    String id = row.substring(0, row.indexOf(' '));
    assertThat(run("show", id).out()).contains("delete", "30");
    assertThat(run("cancel", id).code()).isEqualTo(ExitCode.REFUSED);
    assertThat(run("delete", id).code()).isZero();
    assertThat(run("show", id).code()).isEqualTo(ExitCode.NOTHING);
    assertThat(site.queues().index().counts()).isEmpty();
  }

  @Test
  void jobs_are_chosen_by_status_and_type_together() {
    Shell.CommandResult shown =
        run("jobs", "retry", "--status", "failed", "--older", "1h", "--json", "--dry-run");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("\"total\":0");
    Shell.CommandResult started = run("jobs", "delete", "--all", "--yes");
    assertThat(started.code()).as(started.err()).isZero();
    assertThat(started.out()).contains("started bulk action", "on 0 jobs");
  }

  @Test
  void nodes_are_chosen_by_state_type_and_place() {
    Shell.CommandResult top =
        site.runReading("", "graph", "add", "--type", "group", "--name", "nightly");
    assertThat(top.code()).as(top.err()).isZero();
    Shell.CommandResult shown =
        run("nodes", "delete", "--type", "group", "--state", "finished", "--dry-run", "--json");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("\"total\":1", "finished, type group, name nightly");
    assertThat(run("nodes", "retry", "--below", "1", "--dry-run").out()).contains("total", "0");
    Shell.CommandResult done =
        run("nodes", "delete", "--name", "nightly", "--with-below", "--yes", "--wait");
    assertThat(done.code()).as(done.err()).isZero();
    assertThat(done.out()).contains("done");
    assertThat(site.runReading("", "graph", "show", "1").code()).isEqualTo(ExitCode.NOTHING);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tasks cancel --yes|3",
        "tasks burn --all --yes|3",
        "tasks move --all --yes|3",
        "tasks cancel --queue none --yes|3",
        "tasks cancel --all --queue mail --yes|3",
        "tasks cancel --older soon --yes|3",
        "tasks cancel --filter {x --yes|2",
        "jobs cancel --status dead --yes|3",
        "jobs move --all --to render --yes|3",
        "nodes kill --state dead --yes|3",
        "nodes retry --all --with-below --yes|3",
        "nodes cancel --all --yes|3",
        "nodes kill --below x|2",
        "tasks|2"
      })
  void what_is_wrong_is_said(String command) {
    String[] parts = command.split("\\|", -1);
    Shell.CommandResult ran = run(parts[0].split(" ", -1));
    assertThat(ran.code()).as(ran.err()).isEqualTo(Integer.parseInt(parts[1]));
    assertThat(ran.err()).isNotEmpty();
    assertThat(counts().queued()).isEqualTo(30);
  }
}
