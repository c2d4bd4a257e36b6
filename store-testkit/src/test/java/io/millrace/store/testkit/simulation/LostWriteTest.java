package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.store.testkit.mutation.Mutant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reader of the journal does not take zeros among the durable frames for their end. */
final class LostWriteTest {
  private static final Path FOLDER = Path.of("store");
  private static final int FRAMES = 10;
  private static final int FRAME_BYTES = 1 << 13;

  /** Loses the write of the fourth frame and some more, and reads the journal. */
  static final class ReadLostWrite implements LongConsumer {
    @Override
    public void accept(long seed) {
      read(seed, 1 << 20, 3);
    }

    /** Loses what stands after {@code before} frames in the first segment. */
    static void read(long seed, int segmentBytes, int before) {
      SimulatedEnvironment environment = new SimulatedEnvironment(seed);
      try (FileJournal journal =
          FileJournal.open(environment, FOLDER, new FileJournalOptions(segmentBytes, 1 << 20))) {
        journal.recover(new NothingThere());
        CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
        for (int sequence = 1; sequence <= FRAMES; sequence++) {
          last =
              journal.append(
                  new Frame(sequence, 1, 1, 1, 0, sequence, ByteBuffer.allocate(FRAME_BYTES - 72)));
        }
        environment.runUntilIdle();
        assertThat(last).isCompleted();
        zero(environment, 4096 + before * FRAME_BYTES, 4 * FRAME_BYTES);
        try (Journal.Reader reader = Objects.requireNonNull(journal.read(0))) {
          for (int sequence = 1; sequence <= before; sequence++) {
            assertThat(Objects.requireNonNull(reader.next()).sequence()).isEqualTo(sequence);
          }
          assertThatThrownBy(reader::next)
              .isInstanceOf(DamagedJournalException.class)
              .hasMessageContaining("zeros");
        }
      }
    }

    private static void zero(SimulatedEnvironment environment, int from, int bytes) {
      try (Folder folder = environment.disk().open(FOLDER);
          DiskFile file = folder.open("0000000000000001.segment")) {
        file.write(from, ByteBuffer.allocate(bytes));
        file.sync();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class NothingThere implements Journal.Replay {
    @Override
    public Runnable snapshotPart(ByteBuffer payload) {
      throw new AssertionError("a new journal has no snapshot");
    }

    @Override
    public void reset() {}

    @Override
    public void frame(Frame frame) {
      throw new AssertionError("a new journal has no frames");
    }
  }

  @Test
  void zeros_before_the_end_are_damage() {
    new ReadLostWrite().accept(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  @Timeout(60)
  void zeros_before_the_next_segment_are_damage(int before) {
    ReadLostWrite.read(1, 1 << 16, before);
  }

  @Test
  void a_reader_that_takes_them_for_the_end_is_noticed() {
    Mutant mutant = Mutant.of("io.millrace.store.journal.files.FrameReader", "refuseDamage");
    assertThat(mutant.returningNothing().firstFailure(1, ReadLostWrite.class).failure())
        .hasMessageContaining("Expecting code to raise a throwable");
  }
}
