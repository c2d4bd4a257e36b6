package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.NodeWorld.Started;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of tasks whose runner is lost. */
class OutputRecoveryTest {
  private static final Duration SOON = Duration.ofMillis(200);

  private final NodeWorld world = new NodeWorld();
  private final FileBlobStore blobs;
  private final Queue queue = world.queue("q", 1);
  private final Started node = world.start("n", NodeWorld.machine("a"));

  OutputRecoveryTest(@TempDir Path folder) {
    blobs = FileBlobStore.open(folder);
    node.node.recoverOutputBy(OutputRecovery.from(blobs, world.queues::newId));
  }

  @AfterEach
  void close() {
    world.close();
  }

  private Run running() {
    ObjectId task = world.submit(queue, 1).getFirst();
    world.run(SOON);
    return world.startRun(node.runners.run(task), "a/7 runner");
  }

  private void store(Run run, String name, String content) {
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), name);
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    int chunks = 0;
    for (int at = 0; at < bytes.length; at += OutputFile.CHUNK_BYTES) {
      int length = Math.min(OutputFile.CHUNK_BYTES, bytes.length - at);
      blobs.put(prefix + chunks, new ByteArrayInputStream(bytes, at, length));
      chunks++;
    }
  }

  /** A blob store that fails whatever it is asked. */
  private static BlobStore away() {
    InvocationHandler failure =
        (_, _, _) -> {
          throw new BlobException("away");
        };
    return (BlobStore)
        Proxy.newProxyInstance(
            BlobStore.class.getClassLoader(), new Class<?>[] {BlobStore.class}, failure);
  }

  private QueueTask lost(Run run) {
    node.runners.listener.lost(run.task(), "killed by signal 9");
    world.run(SOON);
    return world.task(run.task());
  }

  private String stdout(QueueTask task) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    world.queues.output(blobs).copy(task, OutputReader.Stream.STDOUT, 0, bytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void output_that_could_be_read_can_be_read_after_the_runner_was_killed() throws Exception {
    Run run = running();
    store(run, "stdout", "half of it");
    assertThat(stdout(world.task(run.task()))).isEqualTo("half of it");

    QueueTask task = lost(run);

    assertThat(task.status()).isEqualTo(Status.ORPHANED);
    assertThat(task.output().stderr()).isEqualTo(Output.none());
    assertThat(stdout(task)).isEqualTo("half of it");
  }

  @Test
  void long_output_is_whole() throws Exception {
    for (int chunks : new int[] {1, 2, 3, 6}) {
      Run run = running();
      String content = "x".repeat(chunks * OutputFile.CHUNK_BYTES - 17 + chunks % 2 * 17);
      store(run, "stdout", content);

      assertThat(stdout(lost(run))).hasSameSizeAs(content);
    }
  }

  @Test
  void another_node_that_finds_a_claim_run_out_keeps_the_output_too() throws Exception {
    Run run = running();
    store(run, "stdout", "half of it");
    node.pause(true);
    Started other = world.start("other", NodeWorld.machine("b"));
    other.node.recoverOutputBy(OutputRecovery.from(blobs, world.queues::newId));

    world.run(NodeWorld.LEASE.plusSeconds(61));

    QueueTask task = world.task(run.task());
    assertThat(task.status()).isEqualTo(Status.ORPHANED);
    assertThat(task.progress().reason()).isEqualTo("its claim ran out");
    assertThat(stdout(task)).isEqualTo("half of it");
    assertThat(other.runners.begun).isEmpty();
  }

  @Test
  void an_orphan_whose_output_cannot_be_looked_for_is_an_orphan_all_the_same() throws Exception {
    Run run = running();
    store(run, "stdout", "half of it");
    node.node.recoverOutputBy(OutputRecovery.from(away(), world.queues::newId));

    QueueTask task = lost(run);

    assertThat(task.status()).isEqualTo(Status.ORPHANED);
    assertThat(task.output()).isEqualTo(TaskOutput.NONE);
  }

  @Test
  void a_task_that_was_to_end_keeps_its_output_too() throws Exception {
    Run run = running();
    store(run, "stdout", "half of it");
    world.queues.tasks().terminate(run.task());

    QueueTask task = lost(run);

    assertThat(task.status()).isEqualTo(Status.TERMINATED);
    assertThat(stdout(task)).isEqualTo("half of it");
  }
}
