package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * While one thread reads parts of a snapshot ahead, another takes them: each comes once, in order,
 * and whoever came before a part gets it.
 */
public class SnapshotPrefetcherLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private static final int PARTS = 4;
  private static final byte[] SNAPSHOT = snapshot();

  private static byte[] snapshot() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      SnapshotOutput output =
          new SnapshotOutput(bytes, new Frame(1, 1, 1, 1, 1, 1, ByteBuffer.allocate(0)), true);
      for (int i = 0; i < PARTS; i++) {
        output.part(ByteBuffer.allocate(8).putInt(0, i));
      }
      output.finish();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Its one activity moves when told; who would have to wait is told so instead. */
  private static final class NobodyWaits implements Environment {
    @Override
    public <T> T await(CompletableFuture<T> answer) {
      if (!answer.isDone()) {
        throw new Waiting(answer);
      }
      return answer.join();
    }

    @Override
    public Driver drive(String name, Activity activity) {
      return new Driver() {
        @Override
        public void signal() {}

        @Override
        public void join() {}
      };
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public RandomGenerator newRandom() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Disk disk() {
      throw new UnsupportedOperationException();
    }
  }

  private static final class Waiting extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient CompletableFuture<?> answer;

    Waiting(CompletableFuture<?> answer) {
      super("not yet", null, false, false);
      this.answer = answer;
    }
  }

  private final SnapshotPrefetcher parts;

  /** What the taking thread waits for. */
  private @Nullable CompletableFuture<?> awaited;

  private boolean finished;
  private boolean closed;

  /** Over a snapshot of a few parts. */
  public SnapshotPrefetcherLincheckTest() {
    Environment environment = new NobodyWaits();
    try {
      SnapshotInput input = new SnapshotInput(new ByteArrayInputStream(SNAPSHOT), "snapshot");
      parts = new SnapshotPrefetcher(environment, input, new Recorded());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The thread that reads does one part. */
  @Operation(nonParallelGroup = "reader")
  public void step() {
    if (!finished) {
      finished = parts.step() == Activity.FINISHED;
    }
  }

  /** The next part, or that it is not there yet. */
  @Operation(nonParallelGroup = "taker")
  public String next() {
    if (closed) {
      return "closed";
    }
    CompletableFuture<?> waited = awaited;
    if (waited != null) {
      if (!waited.isDone()) {
        return "not yet";
      }
      awaited = null;
      return describe(waited.join());
    }
    try {
      return describe(parts.next());
    } catch (Waiting e) {
      awaited = e.answer;
      return "not yet";
    }
  }

  /** The thread that takes has enough. */
  @Operation(runOnce = true, nonParallelGroup = "taker")
  public void close() {
    parts.close();
    closed = true;
  }

  private static String describe(@Nullable Object next) {
    return next instanceof Optional<?> part
        ? part.map(each -> "part " + ((SnapshotPrefetcher.Part) each).number()).orElse("the end")
        : "nothing";
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(2).actorsPerThread(4);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(SnapshotPrefetcherLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    size(new StressOptions())
        .invocationsPerIteration(150)
        .check(SnapshotPrefetcherLincheckTest.class);
  }
}
