package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.Queue;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class QueueCommandsTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private JsonNode shown(String... command) {
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return JSON.readTree(ran.out());
  }

  @Test
  void a_queue_that_is_created_without_threads_says_how_it_is_started() {
    List<String> lines = site.run("queues", "create", "idle", "-p", "shell").out().lines().toList();
    assertThat(lines).hasSize(2);
    String command = lines.getLast().replaceAll(".*: millrace ", "");
    assertThat(command).isEqualTo("queues set idle -t 4");
    assertThat(site.run(command.split(" ", -1)).code()).isZero();
    assertThat(shown("queues", "show", "idle", "--json").path("threads").asInt()).isEqualTo(4);

    assertThat(site.run("queues", "create", "zero", "-p", "shell", "-t", "0").out())
        .contains("queues set zero -t 4");
    assertThat(site.run("queues", "create", "json", "-p", "shell", "--json").out().lines())
        .hasSize(1);
  }

  @Test
  void a_queue_is_created_changed_and_deleted() {
    Shell.CommandResult created =
        site.run("queues", "create", "wörk", "-p", "shell", "--threads", "3", "--pin", "a,b");
    assertThat(created.code()).as(created.err()).isZero();
    assertThat(created.out()).startsWith("created queue wörk, id ").doesNotContain("wait");
    assertThat(site.run("queues", "list").out()).contains("NAME").contains("wörk");
    assertThat(shown("queues", "list", "--json")).hasSize(1);
    JsonNode queue = shown("queues", "show", "wörk", "--json");
    assertThat(queue.path("threads").asInt()).isEqualTo(3);
    assertThat(queue.path("nodes_pin")).hasToString("[\"a\",\"b\"]");

    assertThat(
            site.run(
                    "queues",
                    "set",
                    queue.path("id").asString(),
                    "--name",
                    "other",
                    "--any-node",
                    "--threads",
                    "none",
                    "--sort",
                    "LIFO",
                    "--requeue-orphans",
                    "2",
                    "--retries",
                    "4",
                    "--retry-delay",
                    "1s,1m")
                .code())
        .isZero();
    JsonNode changed = shown("queues", "show", "other", "--json");
    assertThat(changed.path("threads").isNull()).isTrue();
    assertThat(changed.path("sort").asString()).isEqualTo("lifo");
    assertThat(changed.path("nodes_pin")).isEmpty();
    assertThat(changed.path("requeue_orphans").asInt()).isEqualTo(2);
    assertThat(changed.path("attempts").asInt()).isEqualTo(5);
    assertThat(changed.path("retry_delay").asString()).isEqualTo("1s,1m");
    assertThat(site.run("queues", "set", "other", "--retries", "default").code()).isZero();
    assertThat(shown("queues", "show", "other", "--json").has("attempts")).isFalse();

    Shell.CommandResult later =
        site.run("tasks", "submit", "other", "command=true", "--delay", "2h", "--retries", "1");
    Shell.CommandResult one = site.run("tasks", "submit", "other", "command=true", "--unique", "k");
    Shell.CommandResult same =
        site.run("tasks", "submit", "other", "command=false", "--unique", "k");
    assertThat(same.out()).isEqualTo(one.out());
    assertThat(same.err()).contains("submitted 0 tasks to other, and 1 were there already");
    site.run("tasks", "cancel", one.out().strip());
    JsonNode task = shown("tasks", "show", later.out().strip(), "--json").path(0);
    assertThat(task.path("attempts").asInt()).isEqualTo(2);
    assertThat(task.path("not_before").asLong() - task.path("ctime").asLong()).isEqualTo(7_200_000);
    Shell.CommandResult kept = site.run("queues", "delete", "other");
    assertThat(kept.code()).isEqualTo(3);
    assertThat(kept.err()).contains("2 unfinished").contains("--force");
    assertThat(site.run("queues", "delete", "other", "--force").code()).isZero();
    assertThat(site.run("queues", "list").out().lines()).hasSize(1);
  }

  @Test
  void what_is_wrong_is_said_in_one_line_with_its_exit_code() {
    site.run("queues", "create", "q", "--plugin", "shell");
    expect(4, "queue not found", "queues", "show", "nope");
    expect(4, "queue not found", "queues", "set", "nope", "--threads", "1");
    expect(4, "queue not found", "queues", "delete", "nope");
    expect(3, "Unknown plugin", "queues", "create", "q2", "--plugin", "nope");
    expect(3, "already", "queues", "create", "q", "--plugin", "shell");
    expect(2, "--threads", "queues", "set", "q", "--threads", "many");
    expect(2, "--threads 5", "queues", "set", "q");
    expect(2, "--retries is a number from 0", "queues", "set", "q", "--retries", "many");
    expect(2, "retry_delay must be a duration", "queues", "set", "q", "--retry-delay", "5");
    expect(2, "--delay must be a duration", "tasks", "submit", "q", "a=1", "--delay", "soon");
    expect(2, "--at must be a date", "tasks", "submit", "q", "a=1", "--at", "soon");
    expect(
        3,
        "combined",
        "tasks",
        "submit",
        "q",
        "a=1",
        "--at",
        "2026-01-01T00:00:00Z",
        "--delay",
        "1s");
    expect(2, "--any-node", "queues", "set", "q", "--any-node", "--pin", "a");
    expect(3, "name and plugin required", "queues", "create", "", "--plugin", "shell");
    expect(3, "is empty", "queues", "create", " ", "--plugin", "shell");
    expect(2, "--pin contains an empty name", "queues", "set", "q", "--pin", "");
    expect(2, "--ignore contains an empty name", "queues", "set", "q", "--ignore", "a,,b");
    expect(2, "--node is empty", "config", "set", "label=x", "--node", "");
    expect(2, "--node is empty", "config", "show", "--node", "");
    expect(2, "--node is empty", "tasks", "search", "--node", "");
    expect(2, "--limit is a number from 0", "tasks", "search", "--limit", "");
    expect(2, "begins like JSON, but is not valid JSON", "config", "set", "ignorequeues=[\"q\"");
    expect(3, "the name of a plugin", "config", "set", "plugins=[\"../x\"]");
    expect(4, "node not found", "nodes", "set", "nope", "--maxthreads", "1");
    expect(3, "log_level", "config", "set", "log_level=loud");
    expect(2, "key=value", "config", "set", "log_level");
  }

  private void expect(int code, String message, String... command) {
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.err()).startsWith("millrace: ").contains(message).hasLineCount(1);
    assertThat(ran.code()).isEqualTo(code);
  }

  @ParameterizedTest
  @CsvSource({
    "'', --server is empty",
    "nowhere, the server's address must be like http://host:8048",
    "127.0.0.1:8048, 'the server''s address must be like http://host:8048, not 127.0.0.1:8048'",
    "http://127.0.0.1:99999, 'port 99999, which is not from 1 to 65535'"
  })
  void an_address_that_is_none_is_told_and_asks_no_other_server(String address, String message) {
    Shell.CommandResult ran = Shell.run("queues", "list", "--server", address);
    assertThat(ran.err()).startsWith("millrace: ").contains(message).hasLineCount(1);
    assertThat(ran.code()).isEqualTo(2);
  }

  @Test
  void a_server_that_is_away_is_said_to_be() throws Exception {
    String nobody;
    try (ServerSocket closed = new ServerSocket(0)) {
      nobody = "http://127.0.0.1:" + closed.getLocalPort();
    }
    Shell.CommandResult ran = Shell.run("queues", "list", "--server", nobody);
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err())
        .contains("no answer from " + nobody + ": Connection refused")
        .contains("is a server running there?");
  }

  @Test
  void nodes_are_listed_and_limited() {
    site.node("here");
    assertThat(site.run("nodes", "set", "here", "-m", "7").code()).isZero();
    assertThat(site.run("nodes", "list").out())
        .contains("MAXTHREADS")
        .contains("here")
        .contains("7");
    assertThat(site.run("nodes", "set", "here", "-m", "none").code()).isZero();
    assertThat(shown("nodes", "list", "--json").path(0).path("maxthreads").isNull()).isTrue();
  }

  @Test
  void a_queue_that_cannot_be_served_says_why_and_is_resumed() {
    site.run("queues", "create", "q", "-p", "shell", "-t", "4");
    assertThat(site.run("queues", "list").out()).contains("HEALTH").contains("ok");
    assertThat(site.run("queues", "resume", "q").out())
        .isEqualTo("queue q is neither halted nor suspended\n");
    Queue queue = site.queues().queues().find("q").orElseThrow();
    site.queues().queues().suspend(queue.id(), "far", "no java", _ -> true);
    assertThat(site.run("queues", "list").out()).contains("suspended on 1 node");
    site.queues().queues().suspend(queue.id(), "here", "no memory", _ -> false);
    assertThat(site.run("queues", "list").out()).contains("halted");
    assertThat(site.run("queues", "show", "q").out())
        .contains("threads were 4, node here at ")
        .contains(": no memory; node far at ")
        .contains(": no java\n")
        .contains("millrace queues resume q");
    assertThat(site.run("queues", "resume", "q").out()).isEqualTo("resumed queue q, threads 4\n");
    assertThat(site.run("queues", "list").out()).contains("ok").doesNotContain("halted");
    expect(4, "queue not found", "queues", "resume", "nope");
  }

  @Test
  void a_node_that_has_left_is_shown_so_and_removed() {
    NodeRecord node = site.node("here");
    site.queues().nodes().leave(node, "instance");
    assertThat(site.run("nodes", "list").out()).contains("STATE").contains("left");
    assertThat(site.run("nodes", "remove", "here").out()).isEqualTo("removed node here\n");
    assertThat(site.run("nodes", "list").out()).doesNotContain("here");
    expect(4, "node not found", "nodes", "remove", "nope");
  }

  @Test
  void a_queue_of_the_configuration_that_is_not_there_is_warned_of() {
    site.run("queues", "create", "q", "-p", "shell");
    Shell.CommandResult set = site.run("config", "set", "activequeues=[\"q\",\"nope\"]");
    assertThat(set.code()).isZero();
    assertThat(set.err()).isEqualTo("warning: activequeues names nope, which is not a queue\n");
    assertThat(site.run("config", "set", "ignorequeues=also-not").err())
        .isEqualTo("warning: ignorequeues names also-not, which is not a queue\n");
    assertThat(site.run("config", "set", "activequeues=null", "label=x").err()).isEmpty();
  }

  @Test
  void configuration_is_set_for_all_and_for_one() {
    assertThat(site.run("config", "set", "label=all", "ignorequeues=[\"q\"]").code()).isZero();
    assertThat(site.run("config", "set", "--node", "n/1", "label=one").code()).isZero();
    assertThat(shown("config", "show", "--json"))
        .hasToString("{\"label\":\"all\",\"ignorequeues\":[\"q\"]}");
    assertThat(site.run("config", "show", "--node", "n/1").out()).contains("one");
    assertThat(site.run("config", "set", "label=null").code()).isZero();
    assertThat(shown("config", "show", "--json").has("label")).isFalse();
  }
}
