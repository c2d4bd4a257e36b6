package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunnerProgramTest {
  @Test
  void a_runner_without_work_and_without_a_node_ends(@TempDir Path root) throws Exception {
    Path folder = Files.createDirectory(root.resolve("runner"));
    assertThat(RunnerProgram.PATIENCE).isLessThan(Duration.ofSeconds(5));

    RunnerProgram.run(root.resolve("socket"), folder, List.of("here"), _ -> new Here(root));

    assertThat(folder).isDirectory();
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
