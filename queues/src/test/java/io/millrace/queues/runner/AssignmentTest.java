package io.millrace.queues.runner;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.Run;
import io.millrace.queues.runner.Messages.Lines;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** What a node hands over with a run. */
final class AssignmentTest {
  private final Bench bench;

  AssignmentTest(@TempDir Path root) throws IOException {
    bench = new Bench(root);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private Assignment handedOver(Run run) {
    return Assignment.read(Lines.parse(Lines.bytes(bench.assignment("shell", run).write())));
  }

  @Test
  void a_runner_gets_the_task_as_it_was_claimed() {
    Run run = bench.claim(Bench.json("{'command':'echo {{x}} \\u00e9','number':1.50}"));

    Run handed = handedOver(run).run();

    assertThat(handed).isEqualTo(run);
    assertThat(handed.document()).isEqualTo(run.document());
    assertThat(requireNonNull(handed.document()).read(run.task()))
        .isEqualTo(bench.task(run.task()));
  }

  @Test
  void a_long_task_is_read_where_it_runs() throws Exception {
    ObjectNode params = Bench.shell("echo $((3 + 4)) #" + "x".repeat(20_000));
    Run run = bench.claim(params);
    assertThat(run.document()).isNull();

    new TaskRun(handedOver(run), bench.shop(), _ -> {}).carryOut();

    assertThat(bench.text(bench.task(run.task()).output().stdout())).isEqualTo("7\n");
  }

  @Test
  void a_task_that_has_changed_since_is_read_where_it_runs() throws Exception {
    Run run = bench.claim(Bench.shell("echo x"));
    Run.TaskDocument document = requireNonNull(run.document());
    Run old = run.with(new Run.TaskDocument(document.body(), document.version() - 1));

    new TaskRun(handedOver(old), bench.shop(), _ -> {}).carryOut();

    assertThat(bench.text(bench.task(run.task()).output().stdout())).isEqualTo("x\n");
  }
}
