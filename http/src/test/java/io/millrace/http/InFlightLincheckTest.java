package io.millrace.http;

import java.time.Duration;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** Requests come and go while the server stops: none is let in once a stop has let nobody in. */
public class InFlightLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 3);

  private final InFlight inFlight = new InFlight();

  /** A request, from its beginning to its end; tells whether it was let in. */
  @Operation
  public boolean request() {
    if (!inFlight.enter()) {
      return false;
    }
    inFlight.leave();
    return true;
  }

  /** The stop, which waits no longer than it must: every request ends. */
  @Operation(runOnce = true)
  public void stop() throws InterruptedException {
    if (!inFlight.stop(Duration.ofMinutes(1))) {
      throw new IllegalStateException("a request that has ended was waited for");
    }
  }

  /** Whether requests are turned away. */
  @Operation
  public boolean isStopping() {
    return inFlight.stopping();
  }

  /** When all is over. */
  @Validate
  public void checkCount() {
    if (inFlight.count() != 0) {
      throw new IllegalStateException(inFlight.count() + " requests are left");
    }
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    new ModelCheckingOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(100)
        .threads(3)
        .actorsPerThread(2)
        .check(InFlightLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    new StressOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(50)
        .threads(2)
        .actorsPerThread(3)
        .check(InFlightLincheckTest.class);
  }
}
