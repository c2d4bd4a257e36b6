package io.millrace.http;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A request begins to wait while its client goes away and the server stops: it is told once, and
 * not left waiting.
 */
public class PendingWaitLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private final InFlight inFlight = new InFlight();
  private final Client client = new Client();
  private final AtomicInteger told = new AtomicInteger();
  private @Nullable PendingWait wait;
  private volatile boolean ended;
  private volatile boolean closed;

  /** A client that may go away before anybody watches it. */
  private static final class Client implements PendingWait.Client {
    private @Nullable PendingWait wait;
    private boolean gone;

    @Override
    public synchronized void watch(PendingWait wait) {
      this.wait = wait;
      if (gone) {
        wait.end(PendingWait.Cause.CLIENT_GONE);
      }
    }

    @Override
    public synchronized void unwatch() {
      wait = null;
    }

    synchronized void go() {
      gone = true;
      if (wait != null) {
        wait.end(PendingWait.Cause.CLIENT_GONE);
      }
    }
  }

  /** The request begins to wait. */
  @Operation(runOnce = true, nonParallelGroup = "request")
  public void begin() {
    wait =
        PendingWait.begin(inFlight, client, Caller.Validity.FOREVER, _ -> told.incrementAndGet());
  }

  /** The request has what it waited for. */
  @Operation(runOnce = true, nonParallelGroup = "request")
  public void close() {
    if (wait != null) {
      closed = true;
      wait.close();
    }
  }

  /** The client goes away. */
  @Operation
  public void go() {
    client.go();
    ended = true;
  }

  /** The server stops, and need not wait for requests. */
  @Operation(runOnce = true)
  public boolean stop() throws InterruptedException {
    boolean idle = inFlight.stop(Duration.ofMinutes(1));
    ended = true;
    return idle;
  }

  /** When all is over. */
  @Validate
  public void checkTold() {
    int times = told.get();
    if (times > 1) {
      throw new IllegalStateException("told " + times + " times");
    }
    if (times == 0 && wait != null && ended && !closed) {
      throw new IllegalStateException("it waits for ever");
    }
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    new ModelCheckingOptions()
        .iterations(SCENARIOS)
        .threads(3)
        .actorsPerThread(2)
        .invocationsPerIteration(100)
        .check(PendingWaitLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: with more of them than processors, each invocation
    // takes time slices. Beside other JVMs it may take seconds.
    new StressOptions()
        .iterations(1)
        .threads(2)
        .actorsPerThread(3)
        .invocationsPerIteration(10)
        .check(PendingWaitLincheckTest.class);
  }
}
