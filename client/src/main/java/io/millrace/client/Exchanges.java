package io.millrace.client;

import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

/** Sends requests, again where that is safe. Safe for use by threads. */
final class Exchanges {
  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  private final Server server;
  private final Connections connections;
  private final long retryNanos;

  Exchanges(Server server, Connections connections, long retryNanos) {
    this.server = server;
    this.connections = connections;
    this.retryNanos = retryNanos;
  }

  /** What happens when a request arrives twice. */
  enum Effect {
    /** Nothing: it reads. */
    READ,
    /** Nothing more: it carries a request id. */
    ONCE,
    /** It is done twice. */
    AGAIN
  }

  /**
   * The answer to a request, sent again while it is safe and time allows.
   *
   * @throws UnreachableException when the server was not reached and nothing changed
   * @throws OutcomeUnknownException when the server may have done it
   * @throws StoreClosedException when this client is closed
   */
  Answer send(Request request, Effect effect, Connections.Call call) {
    long begin = System.nanoTime();
    boolean mayBeDone = false;
    for (long pause = FIRST_PAUSE_MILLIS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS)) {
      IOException failure;
      try {
        Answer answer = connections.exchange(request, call);
        if (answer.status() < 502 || answer.status() == 503) {
          return answer;
        }
        failure = new IOException("status " + answer.status() + ": " + answer.error());
        mayBeDone = true;
      } catch (NotSentException e) {
        failure = e;
      } catch (IOException e) {
        failure = e;
        mayBeDone = true;
      }
      boolean safe =
          (!mayBeDone || effect != Effect.AGAIN) && !(failure instanceof UntrustedException);
      boolean late = System.nanoTime() - begin >= retryNanos;
      if (!safe || late || call.givenUp() || connections.closed() || !paused(pause)) {
        throw failed(failure, mayBeDone && effect != Effect.READ);
      }
    }
  }

  private StoreException failed(IOException failure, boolean mayBeDone) {
    String why = failure.getMessage() == null ? "" : ": " + failure.getMessage();
    if (mayBeDone) {
      String message = "the connection to " + server + " broke before the answer came" + why;
      return new OutcomeUnknownException(message, failure);
    }
    if (connections.closed()) {
      return new StoreClosedException("the client of " + server + " is closed");
    }
    return new UnreachableException("no answer from " + server + why, failure);
  }

  /** Waits a little, not for the same time as everybody else; false when interrupted. */
  private static boolean paused(long millis) {
    try {
      Thread.sleep(millis / 2 + ThreadLocalRandom.current().nextLong(millis));
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
