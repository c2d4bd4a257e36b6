package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunnerProgramTest {
  @Test
  void a_runner_without_work_and_without_a_node_ends(@TempDir Path root) throws Exception {
    Path folder = Files.createDirectory(root.resolve("runner"));
    assertThat(RunnerProgram.PATIENCE).isLessThan(Duration.ofSeconds(5));

    try (TaskStore store = TaskStore.open(StoreOptions.in(root.resolve("store")))) {
      RunnerProgram.run(
          root.resolve("socket"), folder, store, () -> FileBlobStore.open(root.resolve("blobs")));
    }

    assertThat(folder).isDirectory();
  }
}
