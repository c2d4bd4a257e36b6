package io.millrace.graph.type;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * A look that costs little, so that the first ones follow each other quickly.
 *
 * @param holds whether it is so
 * @param longest the longest pause
 */
record SimpleProbe(BooleanSupplier holds, Duration longest) implements Probe {
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final int CONNECT_MILLIS = 5_000;

  /** Whether there is a file or folder. */
  static Probe file(Path file, Duration interval) {
    return new SimpleProbe(() -> Files.exists(file), interval);
  }

  /** Whether somebody answers at a port. */
  static Probe port(String host, int port, Duration interval) {
    return new SimpleProbe(
        () -> {
          try (Socket socket = new Socket()) {
            // Resolved anew each time, as names may come to be.
            socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
            return true;
          } catch (IOException e) {
            return false;
          }
        },
        interval);
  }

  /** Whether a time has come; never looks before it, but where the clock is set. */
  static Probe time(long atMillis, Duration longest, InstantSource clock) {
    return new Probe() {
      @Override
      public CompletableFuture<Boolean> once() {
        return CompletableFuture.completedFuture(clock.millis() >= atMillis);
      }

      @Override
      public Duration pause(int looked) {
        long left = Math.max(1, atMillis - clock.millis());
        return Duration.ofMillis(Math.min(left, longest.toMillis()));
      }
    };
  }

  @Override
  public CompletableFuture<Boolean> once() {
    return CompletableFuture.completedFuture(holds.getAsBoolean());
  }

  @Override
  public Duration pause(int looked) {
    long doubled = FIRST_PAUSE_MILLIS << Math.min(looked - 1, 30);
    return Duration.ofMillis(Math.min(doubled, longest.toMillis()));
  }
}
