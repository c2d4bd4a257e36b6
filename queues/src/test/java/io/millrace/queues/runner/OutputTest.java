package io.millrace.queues.runner;

import static io.millrace.queues.runner.Bench.reason;
import static io.millrace.queues.runner.Bench.shell;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.NodeConfig.OutputLimits.Files;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.runner.TaskFolder.WorkFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** What becomes of the output of tasks. */
class OutputTest {
  private final Bench bench;

  OutputTest(@TempDir Path root) throws IOException {
    bench = new Bench(root);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void short_output_never_touches_the_blob_store() throws Exception {
    bench.blobs.refuses = true;

    QueueTask task = bench.run("shell", shell("echo hello"));

    assertThat(task.output().stdout()).isEqualTo(new Output.Text("hello\n"));
    assertThat(task.output().stderr()).isEqualTo(new Output.Text(""));
  }

  @Test
  void both_outputs_are_kept_together_in_the_order_of_arrival_where_that_is_wanted()
      throws Exception {
    ObjectNode params =
        shell("for i in 1 2 3; do echo o$i; sleep 0.05; echo e$i >&2; sleep 0.05; done");

    QueueTask task = bench.run("shell", params.put("mixed", true));

    assertThat(task.output().stdout()).isEqualTo(new Output.Text("o1\no2\no3\n"));
    assertThat(task.output().stderr()).isEqualTo(new Output.Text("e1\ne2\ne3\n"));
    assertThat(task.output().mixed()).isEqualTo(new Output.Text("o1\ne1\no2\ne2\no3\ne3\n"));
  }

  @Test
  void both_outputs_together_go_to_the_blob_store_and_are_cut_like_each() throws Exception {
    bench.limits = new OutputLimits(Files.AUTO, 10_000, 100_000);

    QueueTask task =
        bench.run("shell", shell("seq 20000; seq 20000 >&2; exit 3").put("mixed", true));

    Output.Stored mixed = (Output.Stored) task.output().mixed();
    assertThat(mixed.sizeBytes()).isEqualTo(100_000);
    assertThat(bench.text(mixed)).startsWith("1\n2\n").hasSize(100_000);
    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(reason(task)).contains("mixedout: cut at 100000 bytes", "exit code 3");
  }

  @Test
  void what_is_left_behind_with_a_pipe_open_is_not_waited_for() throws Exception {
    QueueTask task =
        bench.run("shell", shell("echo here; setsid sleep 4 & sleep 0.2").put("mixed", true));

    assertThat(task.output().mixed()).isEqualTo(new Output.Text("here\n"));
  }

  @Test
  void a_wish_for_both_together_is_true_or_false() throws Exception {
    QueueTask task = bench.run("shell", shell("true").put("mixed", "perhaps"));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(bench.text(task.output().stderr()))
        .contains("the param mixed is neither true nor false");
  }

  @Test
  void long_output_is_stored_in_chunks_and_shown_as_text() throws Exception {
    QueueTask task = bench.run("shell", shell("seq 100000; echo e >&2"));

    Output.Stored stored = (Output.Stored) task.output().stdout();
    assertThat(stored.shownAsText()).isTrue();
    assertThat(stored.sizeBytes()).isEqualTo(588_895);
    assertThat(bench.text(stored)).startsWith("1\n2\n").endsWith("\n100000\n").hasSize(588_895);
    OutputFile file = bench.queues.file(stored.file()).orElseThrow();
    assertThat(file.name()).isEqualTo("stdout");
    assertThat(file.content(bench.blobs).chunks(file.sizeBytes())).hasSize(3);
    assertThat(bench.chunks()).hasSize(3);
    assertThat(task.output().stderr()).isEqualTo(new Output.Text("e\n"));
  }

  @Test
  void the_larger_output_becomes_a_file_where_both_are_too_long() throws Exception {
    bench.limits = new OutputLimits(Files.AUTO, 10_000, 1 << 20);

    QueueTask task = bench.run("shell", shell("seq 5000; seq 1000 >&2"));

    assertThat(((Output.Stored) task.output().stdout()).shownAsText()).isFalse();
    assertThat(task.output().stderr()).isInstanceOf(Output.Text.class);
  }

  @Test
  void files_may_be_wanted_always() throws Exception {
    bench.limits = new OutputLimits(Files.ALWAYS, 10_000, 1 << 20);

    QueueTask task = bench.run("shell", shell("echo x"));

    assertThat(((Output.Stored) task.output().stdout()).shownAsText()).isFalse();
    assertThat(bench.text(task.output().stdout())).isEqualTo("x\n");
  }

  @Test
  void without_files_what_does_not_fit_is_dropped_and_the_reason_says_so() throws Exception {
    bench.limits = new OutputLimits(Files.NEVER, 5_000, 1 << 20);

    QueueTask task = bench.run("shell", shell("seq 10000"));

    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(((Output.Stored) task.output().stdout()).shownAsText()).isTrue();
    assertThat(bench.text(task.output().stdout())).hasSize(5_000).startsWith("1\n2\n");
    assertThat(reason(task)).contains("stdout").contains("5000");
  }

  @Test
  void a_disk_that_was_full_meanwhile_is_told() throws Exception {
    Run run = bench.claim(shell("true"));
    TaskFolder folder = new TaskFolder(bench.plugins);
    new WorkFolder(folder).prepare();
    Deque<Long> room = new ArrayDeque<>(List.of(1L << 30, 4_096L, 1L << 30));
    Outputs outputs =
        new Outputs(bench.assignment("shell", run), folder, () -> bench.blobs, room::remove);
    outputs.cut();
    outputs.cut();
    outputs.stdout().lost("cut at 5 bytes");

    Outputs.Settled settled = outputs.settle(null, bench.queues::newId, (_, _) -> true);

    assertThat(settled.loss())
        .isEqualTo(
            "the disk of the runner was full, so output may be missing; stdout: cut at 5 bytes");
    assertThat(room).isEmpty();
  }

  @Test
  void an_endless_output_is_cut_while_it_is_written() throws Exception {
    bench.limits = new OutputLimits(Files.AUTO, 5_000, 100_000);

    QueueTask task = bench.run("shell", shell("head -c 300M /dev/zero; exit 4"));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(((Output.Stored) task.output().stdout()).sizeBytes()).isEqualTo(100_000);
    assertThat(reason(task)).contains("exit code 4").contains("cut at 100000 bytes");
  }

  @Test
  void output_can_be_read_while_the_task_runs_and_moves_into_the_task_at_its_end()
      throws Exception {
    TaskRun run =
        bench.begin(
            "shell",
            shell(
                "echo early; while sleep 0.05; do"
                    + " [ -e "
                    + bench.root().resolve("go")
                    + " ] && exit; done"));
    var end =
        CompletableFuture.runAsync(() -> {
          try {
            run.carryOut();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    bench.blobs.awaitFirst();

    String prefix =
        OutputFile.prefix(
            run.assignment().task(), run.assignment().run().claim().token(), "stdout");
    try (var chunk = bench.blobs.open(prefix + 0)) {
      assertThat(chunk.readAllBytes()).asString().isEqualTo("early\n");
    }
    java.nio.file.Files.createFile(bench.root().resolve("go"));
    end.join();

    assertThat(bench.task(run.assignment().task()).output().stdout())
        .isEqualTo(new Output.Text("early\n"));
    assertThat(bench.chunks()).isEmpty();
  }

  @Test
  void a_blob_store_that_refuses_costs_the_output_and_not_the_status() throws Exception {
    bench.blobs.refuses = true;

    QueueTask task = bench.run("shell", shell("seq 10000; echo kept >&2"));

    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(task.output().stdout()).isEqualTo(Output.none());
    assertThat(task.output().stderr()).isEqualTo(new Output.Text("kept\n"));
    assertThat(reason(task)).contains("stdout").contains("refused");
  }

  @Test
  void a_task_without_room_for_its_output_runs_without_it() throws Exception {
    TaskRun run = bench.begin("shell", shell("echo x"));
    // A name that is taken stands for a disk that has no room.
    TaskFolder folder = bench.shop().folder();
    Outputs outputs = new Outputs(run.assignment(), folder, () -> bench.blobs);

    assertThat(outputs.stdout().redirect()).isEqualTo(ProcessBuilder.Redirect.DISCARD);
    assertThat(outputs.stdout().loss()).contains("no file");
  }
}
