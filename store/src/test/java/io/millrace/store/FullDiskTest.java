package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.TaskStore.GroupQuery;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store process whose disk takes no more. The limit of a file's size (POSIX {@code ulimit -f})
 * stands for the full disk: writes within it succeed, the one that crosses it is cut short, and all
 * later ones fail.
 */
@EnabledOnOs({OS.LINUX, OS.MAC})
class FullDiskTest {
  /** 4 MiB in the shell's blocks of 512 bytes: less than a segment. */
  private static final String LIMITED = "ulimit -f 8192 && exec \"$0\" \"$@\"";

  @TempDir private Path folder;

  private static List<String> runLimited(Path folder) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                LIMITED,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                FullDiskWriter.class.getName(),
                folder.toString())
            .redirectErrorStream(true)
            .start();
    try {
      List<String> lines = process.inputReader().lines().toList();
      assertThat(process.waitFor()).as(String.join("\n", lines)).isZero();
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }

  private static long acknowledged(List<String> lines) {
    return lines.stream().filter(line -> line.startsWith(FullDiskWriter.ACKNOWLEDGED)).count();
  }

  @Test
  void a_store_whose_disk_is_full_stops_with_a_clear_message_and_loses_nothing()
      throws IOException, InterruptedException {
    // Segments have their whole size from the beginning, so the first is made while there is room.
    TaskStore.open(StoreOptions.in(folder)).close();
    List<String> first = runLimited(folder);
    long acknowledged = acknowledged(first);
    assertThat(acknowledged).isPositive();
    assertThat(first)
        .anySatisfy(line ->
            assertThat(line)
                .startsWith(FullDiskWriter.STOPPED)
                .contains("the journal failed")
                .contains(folder.toString()));
    assertThat(first.getLast()).isEqualTo(FullDiskWriter.CLOSED);

    StoreReport report = TaskStore.verify(folder);
    assertThat(report.isSound()).isTrue();
    assertThat((long) report.tasks()).isBetween(acknowledged, acknowledged + 1);

    // With room again it goes on.
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      List<Task> tasks = store.group(GroupQuery.all("group")).value();
      assertThat((long) tasks.size()).isBetween(acknowledged, acknowledged + 1);
      Outcome.Done done =
          store.commit(Transaction.by(Owner.client(1)).add("group", "room again").build()).done();
      assertThat(done.tasks().getFirst().id())
          .isGreaterThan(tasks.stream().mapToLong(Task::id).max().orElseThrow());
    }
  }
}
