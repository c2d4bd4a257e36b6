package io.millrace.client;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Requests take connections while the client is closed: none is used by two, none is left open, and
 * nothing is sent after the close.
 */
public class ConnectionPoolLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private final Queue<Dialled> dialled = new ConcurrentLinkedQueue<>();
  private final ConnectionPool<Dialled> pool = new ConnectionPool<>(this::dial);

  /** A connection without a server. */
  private static final class Dialled implements ConnectionPool.Pooled {
    private final AtomicBoolean used = new AtomicBoolean();
    private volatile boolean cut;

    void exchange() throws IOException {
      if (!used.compareAndSet(false, true)) {
        throw new IllegalStateException("two requests at a time");
      }
      try {
        if (cut) {
          throw new IOException("cut");
        }
      } finally {
        used.set(false);
      }
    }

    @Override
    public boolean isReusable() {
      return !cut;
    }

    @Override
    public void idleSince(long nanos) {}

    @Override
    public boolean idleTooLong(long nanos) {
      return false;
    }

    @Override
    public boolean isUsable(long nanos, boolean certain) {
      return true;
    }

    @Override
    public void cut() {
      cut = true;
    }
  }

  private Dialled dial() {
    Dialled fresh = new Dialled();
    dialled.add(fresh);
    return fresh;
  }

  /** A request; whether it was answered. */
  @Operation
  public boolean exchange() {
    ConnectionPool.Call call = new ConnectionPool.Call();
    try {
      Dialled connection = pool.lease(call, false);
      try {
        connection.exchange();
        return true;
      } finally {
        pool.release(connection, call);
      }
    } catch (IOException _) {
      return false;
    }
  }

  /** The client is closed. */
  @Operation(runOnce = true)
  public void close() {
    pool.close();
  }

  /** When all is over. */
  @Validate
  public void checkCut() {
    if (pool.isClosed() && dialled.stream().anyMatch(each -> !each.cut)) {
      throw new IllegalStateException("a connection is left open");
    }
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(3).actorsPerThread(2);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(ConnectionPoolLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    size(new StressOptions())
        .threads(2)
        .invocationsPerIteration(100)
        .check(ConnectionPoolLincheckTest.class);
  }
}
