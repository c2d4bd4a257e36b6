package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a folder and are killed and stopped at any moment. */
@Timeout(120)
final class ProcessesTest {
  private static final int ROUNDS = 4;
  private static final int STEPS = 20;

  @TempDir private Path folder;
  private final List<Counter> counters = new ArrayList<>();

  @AfterEach
  void end() {
    counters.forEach(Counter::kill);
  }

  private Counter start() throws IOException {
    Counter counter = Counter.start(folder, "p" + counters.size());
    counters.add(counter);
    return counter;
  }

  @Test
  void processes_that_are_killed_or_stopped_lose_nothing_and_block_nobody() throws Exception {
    Counter steady = start();
    Counter stopped = start();
    Counter killed = start();
    for (int round = 0; round < ROUNDS; round++) {
      stopped.follow(1 + round);
      killed.follow(1 + round);
      stopped.signal("STOP");
      steady.follow(STEPS);
      killed.kill();
      killed.follow(Integer.MAX_VALUE);
      // Long enough for the files that the stopped process has read to be cleared away.
      steady.follow(4 * STEPS);
      killed = start();
      killed.follow(1);
      stopped.signal("CONT");
    }
    stopped.follow(STEPS);
    for (Counter counter : counters) {
      counter.kill();
      counter.follow(Integer.MAX_VALUE);
    }
    Counter.check(folder, counters);
    try (FileDocuments documents = FileDocuments.open(folder)) {
      documents
          .get("brief")
          .ifPresent(left -> assertThat(documents.delete("brief", left.version())).isTrue());
      assertThat(documents.list("")).hasSize(1);
    }
  }
}
