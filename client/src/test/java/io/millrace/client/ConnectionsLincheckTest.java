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
public class ConnectionsLincheckTest {
  private static final Answer ANSWER = new Answer(200, null, null, new byte[0]);
  private static final Request REQUEST = Request.get("/", 1_000);

  private final Queue<Dialled> dialled = new ConcurrentLinkedQueue<>();
  private final Connections connections = new Connections(this::dial);

  /** A connection without a server. */
  private static final class Dialled implements Connections.Pooled {
    private final AtomicBoolean used = new AtomicBoolean();
    private volatile boolean cut;

    @Override
    public Answer exchange(Request request) throws IOException {
      if (!used.compareAndSet(false, true)) {
        throw new IllegalStateException("two requests at a time");
      }
      try {
        if (cut) {
          throw new IOException("cut");
        }
        return ANSWER;
      } finally {
        used.set(false);
      }
    }

    @Override
    public boolean reusable() {
      return !cut;
    }

    @Override
    public void rest(long nanos) {}

    @Override
    public boolean restedTooLong(long nanos) {
      return false;
    }

    @Override
    public boolean fresh(long nanos) {
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
    try {
      return connections.exchange(REQUEST, new Connections.Call()).status() == 200;
    } catch (IOException _) {
      return false;
    }
  }

  /** The client is closed. */
  @Operation(runOnce = true)
  public void close() {
    connections.close();
  }

  /** When all is over. */
  @Validate
  public void checkCut() {
    if (connections.closed() && dialled.stream().anyMatch(each -> !each.cut)) {
      throw new IllegalStateException("a connection is left open");
    }
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(3).threads(3).actorsPerThread(2);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(ConnectionsLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    size(new StressOptions()).invocationsPerIteration(100).check(ConnectionsLincheckTest.class);
  }
}
