package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.processes.ProcessIdentity;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunnerProgramTest {
  @Test
  void a_runner_without_work_and_without_a_node_ends(@TempDir Path root) throws Exception {
    Path folder = Files.createDirectory(root.resolve("runner"));
    assertThat(RunnerProgram.PATIENCE).isLessThan(Duration.ofSeconds(4));

    RunnerProgram.run(root.resolve("socket"), folder, List.of("here"), _ -> new Here(root));

    assertThat(folder).isDirectory();
  }

  @Test
  void a_runner_without_work_that_has_lost_its_node_ends(@TempDir Path root) throws Exception {
    Path folder = Files.createDirectory(root.resolve("runner"));
    Path socket = root.resolve("socket");
    try (ServerSocketChannel node = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      node.bind(UnixDomainSocketAddress.of(socket));
      FutureTask<Integer> greeting = new FutureTask<>(() -> greeted(node, socket));
      Thread.startVirtualThread(greeting);

      RunnerProgram.run(socket, folder, List.of("here"), _ -> new Here(root));

      assertThat(greeting.get()).isPositive();
    }
  }

  @Test
  void a_node_is_not_missed_before_the_first_attempt_to_reach_it_has_ended(@TempDir Path root) {
    Path none = root.resolve("socket");
    try (NodeLink link = new NodeLink(none, "name", new ProcessIdentity(2, "mark"), _ -> {})) {
      for (long since = System.nanoTime(); System.nanoTime() - since < 1_000_000; ) {
        assertThat(link.awayNanos()).isEqualTo(1);
      }
      link.open();
      while (link.awayNanos() < 1_000_000) {
        Thread.onSpinWait();
      }
    }
  }

  /** Hears the first bytes of a runner, and is a node no more. */
  private static int greeted(ServerSocketChannel node, Path socket) throws IOException {
    try (SocketChannel runner = node.accept()) {
      int bytes = runner.read(ByteBuffer.allocate(100));
      node.close();
      Files.delete(socket);
      return bytes;
    }
  }

  /** A server in this process. */
  private record Here(TaskStore store, BlobStore blobs) implements Connector.Connection {
    Here(Path root) {
      this(
          TaskStore.open(StoreOptions.in(root.resolve("store"))),
          FileBlobStore.open(root.resolve("blobs")));
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
