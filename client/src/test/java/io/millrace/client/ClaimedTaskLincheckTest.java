package io.millrace.client;

import io.millrace.store.Bytes;
import io.millrace.store.Task;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** However a cancellation and its listeners meet, each listener runs, and once. */
public class ClaimedTaskLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 3);

  private final ClaimedTask work =
      new ClaimedTask(new Task(1, 1, "group", 0, null, 1, 1, Bytes.EMPTY));
  private final AtomicInteger listeners = new AtomicInteger();
  private final AtomicInteger runs = new AtomicInteger();

  /** A handler listens. */
  @Operation
  public void listen() {
    listeners.incrementAndGet();
    work.onCancel(runs::incrementAndGet);
  }

  /** The renewer loses the claim, or the worker stops. */
  @Operation
  public void cancel() {
    work.cancel();
  }

  /** A handler asks. */
  @Operation
  public boolean isCancelled() {
    return work.isCancelled();
  }

  /** When all is over. */
  @Validate
  public void checkRuns() {
    int expected = work.isCancelled() ? listeners.get() : 0;
    if (runs.get() != expected) {
      throw new IllegalStateException(runs + " runs of " + listeners + " listeners");
    }
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    new ModelCheckingOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(100)
        .threads(3)
        .actorsPerThread(2)
        .check(ClaimedTaskLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    new StressOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(500)
        .threads(2)
        .actorsPerThread(3)
        .check(ClaimedTaskLincheckTest.class);
  }
}
