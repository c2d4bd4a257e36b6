package io.millrace.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reasons why work waits, on the command line. */
final class WhyCommandTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;
  private Queue queue;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    queue = site.queues().queues().create("work", "shell", Queue.Settings.DEFAULTS.withThreads(1));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String submit() {
    var params = JsonNodeFactory.instance.objectNode().put("command", "true");
    return site.queues()
        .submission()
        .submit(queue, List.of(params), Status.QUEUED)
        .getFirst()
        .hex();
  }

  @Test
  void the_reasons_are_printed_with_the_tasks_behind_them() {
    String running = submit();
    String task = submit();
    var node =
        site.queues()
            .nodes()
            .take("n", null, new NodeIdentity("i", "h", "1 m", List.of("shell")))
            .orElseThrow();
    assertThat(site.queues().runs().claim(node, queue, 1, Duration.ofMinutes(5))).hasSize(1);
    Shell.CommandResult ran = site.run("why", task);
    assertThat(ran.code()).isZero();
    assertThat(ran.out())
        .isEqualTo(
            """
            task %s is queued
            - all threads of queue work are taken (1 of 1)
              tasks: %s
            """
                .formatted(task, running));
    String json = site.run("why", task, "--kind", "task", "--json").out();
    assertThat(JsonMapper.shared().readTree(json).path("reasons").path(0).path("code").asString())
        .isEqualTo("threads");
  }

  @Test
  void an_unknown_id_exits_with_4_and_a_wrong_kind_with_3() {
    assertThat(site.run("why", "none").code()).isEqualTo(4);
    assertThat(site.run("why", "none").err()).contains("none");
    assertThat(site.run("why", submit(), "--kind", "job").code()).isEqualTo(4);
    assertThat(site.run("why", submit(), "--kind", "queue").code()).isEqualTo(3);
    assertThat(site.run("why").code()).isEqualTo(2);
  }
}
