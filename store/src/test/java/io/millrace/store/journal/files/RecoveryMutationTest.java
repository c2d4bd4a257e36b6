package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Whatever the files hold, recovery reads them or says what is wrong with them. */
class RecoveryMutationTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final int ROUNDS = 1_000;

  private final SplittableRandom random = new SplittableRandom(1);

  private static byte[] golden(String name) throws IOException {
    try (InputStream stream =
        RecoveryMutationTest.class.getResourceAsStream("/journal-v1/" + name)) {
      return Objects.requireNonNull(stream, name).readAllBytes();
    }
  }

  private byte[] mutate(byte[] content) {
    byte[] changed = content.clone();
    for (int i = random.nextInt(4); i > 0; i--) {
      int at = random.nextInt(changed.length);
      switch (random.nextInt(4)) {
        case 0 -> changed[at] = (byte) random.nextInt(256);
        case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> Arrays.fill(changed, at, changed.length, (byte) 0);
        default -> changed = Arrays.copyOf(changed, at + 1);
      }
    }
    return changed;
  }

  @Test
  void mutated_files_are_recovered_or_refused() throws IOException {
    byte[] segment = golden("segment.golden");
    byte[] snapshot = golden("snapshot.golden");
    int recovered = 0;
    for (int round = 0; round < ROUNDS; round++) {
      MemoryEnvironment environment = new MemoryEnvironment(round);
      MemoryEnvironment.Content first = new MemoryEnvironment.Content(mutate(segment));
      environment.files.put(FileNames.segment(1), first);
      if (random.nextBoolean()) {
        MemoryEnvironment.Content second = new MemoryEnvironment.Content(mutate(snapshot));
        environment.files.put(FileNames.snapshot(2), second);
      }
      try (FileJournal journal = FileJournal.open(environment, Path.of("memory"), SMALL)) {
        Journal.Tail tail = journal.recover(new Recorded());
        assertThat(tail.sequence()).as("round %s", round).isBetween(0L, 3L);
        recovered++;
      } catch (JournalException _) {
        // It says what is wrong.
      } catch (RuntimeException e) {
        fail("round " + round, e);
      }
    }
    assertThat(recovered).isBetween(ROUNDS / 20, ROUNDS - ROUNDS / 20);
  }
}
