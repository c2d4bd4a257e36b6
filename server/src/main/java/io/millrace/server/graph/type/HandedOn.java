package io.millrace.server.graph.type;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveException;
import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import io.millrace.graph.type.Attempt;
import io.millrace.store.StoreClosedException;
import io.millrace.work.Backoff;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * An attempt whose work is done elsewhere. It is handed on by a thread of its own, under a unique
 * name, so that handing it on again after a crash finds the existing work.
 */
abstract class HandedOn implements Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(HandedOn.class);

  private final CompletableFuture<Ending> end = new CompletableFuture<>();
  private final Map<String, Tail> recordings;
  private volatile boolean handedOn;
  private volatile boolean killed;

  HandedOn(Map<String, Tail> recordings) {
    this.recordings = Map.copyOf(recordings);
  }

  /**
   * Hands the work on, or finds that this was done before; then calls {@link #finish} once the work
   * has ended.
   *
   * @throws CannotHandOnException if it is not accepted
   */
  abstract void handOn();

  /** Stops the work that was handed on; does nothing if it has ended. */
  abstract void stop();

  /** The work is not accepted. */
  static final class CannotHandOnException extends RuntimeException {
    CannotHandOnException(String message) {
      super(message);
    }
  }

  /**
   * Reads something of the archive; while it cannot be reached, this waits. For a thread of this
   * attempt's own.
   */
  static <T> T archived(Archive archive, Supplier<T> read) {
    Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
    while (true) {
      try {
        return read.get();
      } catch (ArchiveException e) {
        if (archive.isClosed()) {
          throw new StoreClosedException("the server is being stopped", e);
        }
        LOG.debug("the archive is asked again for the work of a node", e);
      }
      try {
        Thread.sleep(backoff.next());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreClosedException("the server is being stopped", e);
      }
    }
  }

  final HandedOn begin() {
    Thread.ofVirtual()
        .name("graph-hand-on")
        .start(() -> {
          guarded(this::handOn);
          handedOn = true;
          if (killed) {
            guarded(this::stop);
          }
        });
    return this;
  }

  /** Runs an action whose failure would otherwise go unnoticed. */
  final void guarded(Runnable action) {
    try {
      action.run();
    } catch (StoreClosedException _) {
      // The store has ended; the next start finds the attempt again.
    } catch (CannotHandOnException e) {
      end.complete(Ending.failed(String.valueOf(e.getMessage())));
    } catch (RuntimeException | Error e) {
      LOG.warn("the work of a node could not be handed on or ended", e);
      end.complete(Ending.failed("it could not be handed on: " + e.getMessage()));
    }
  }

  final void finish(Map<String, JsonNode> values) {
    end.complete(Ending.succeeded(values));
  }

  final void fail(Failure failure, Map<String, JsonNode> values) {
    end.complete(new Ending(failure, null, values));
  }

  @Override
  public final CompletableFuture<Ending> onEnd() {
    return end;
  }

  @Override
  public final void kill(Kill kill) {
    killed = true;
    if (handedOn && !end.isDone()) {
      Thread.ofVirtual().name("graph-stop").start(() -> guarded(this::stop));
    }
  }

  @Override
  public final Map<String, Tail> recordings() {
    return recordings;
  }
}
