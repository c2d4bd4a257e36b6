package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * While frames are queued the disk breaks and the journal is closed: each frame hears one thing,
 * and the truth, and none is left waiting.
 */
public class GroupCommitterLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private static final int PAYLOAD_BYTES = 8;
  private static final int SEGMENT_BYTES = 1 << 16;

  private final FailingFile file = new FailingFile();
  private final GroupCommitter loop;

  // For the thread that queues, until all is over.
  private final List<CompletableFuture<Void>> queued = new ArrayList<>();
  private int refused;

  private volatile boolean finishing;
  private volatile boolean failed;
  private volatile boolean ended;

  /** A loop over a segment with room for all. */
  public GroupCommitterLincheckTest() {
    Disk disk = new MemoryEnvironment(0).disk();
    try {
      Recovery.Ending start =
          new Recovery.Ending(file, SEGMENT_BYTES, SegmentHeader.BLOCK_BYTES, 1, Chain.START, "");
      Storage storage = new Storage(disk.folder(Path.of("memory")));
      loop =
          new GroupCommitter(
              new ActiveSegment(
                  new SegmentIndex(), new SpareSegment(storage, 1 << 10, 0), 1 << 10, start),
              "memory",
              () -> 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Only the kernel's loop queues frames. */
  @Operation(nonParallelGroup = "queue")
  public void add() {
    boolean late = finishing || failed;
    long sequence = queued.size() + 1L;
    ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
    CompletableFuture<Void> done = loop.add(new Frame(sequence, 1, 1, 1, 0, sequence, payload));
    if (late) {
      refused++;
      require(done.isCompletedExceptionally(), "a frame was taken by a journal that was over");
    } else {
      queued.add(done);
    }
  }

  /** How many frames are on disk after what the thread that syncs has done. */
  @Operation(nonParallelGroup = "sync")
  public long step() {
    if (!ended) {
      ended = loop.step() == Activity.FINISHED;
      failed |= file.isHurt();
    }
    return file.durableBytes() / FrameCodec.sizeBytes(PAYLOAD_BYTES);
  }

  /** The disk fails from now on. */
  @Operation(runOnce = true)
  public void breakDisk() {
    file.breakDown();
  }

  /** By the thread that closes the store. */
  @Operation(runOnce = true)
  public void finish() {
    loop.finish();
    finishing = true;
  }

  /** When all is over. */
  @Validate
  public void checkAnswers() {
    long durable = file.durableBytes() / FrameCodec.sizeBytes(PAYLOAD_BYTES);
    for (int i = 0; i < queued.size(); i++) {
      CompletableFuture<Void> done = queued.get(i);
      boolean succeeded = done.isDone() && !done.isCompletedExceptionally();
      require(succeeded == i < durable, "frame " + i + " of " + durable + " on disk: " + done);
      require(done.isDone() || !(failed || ended), "frame " + i + " waits for ever");
    }
    long pending = queued.stream().filter(done -> !done.isDone()).count();
    boolean counted = loop.unsyncedFrameBytes() == pending * FrameCodec.sizeBytes(PAYLOAD_BYTES);
    require(failed || counted, pending + " frames wait, " + loop.unsyncedFrameBytes() + " bytes");
    require(refused == 0 || failed || finishing, "frames were refused for no reason");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(3).actorsPerThread(3);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(GroupCommitterLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    size(new StressOptions())
        .threads(2)
        .invocationsPerIteration(150)
        .check(GroupCommitterLincheckTest.class);
  }
}
