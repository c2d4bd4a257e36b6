package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpExchange.Request;
import io.millrace.client.HttpExchange.Response;
import io.millrace.client.HttpTransport.Idempotency;
import io.millrace.store.Position;
import io.millrace.wire.Responses;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a client, which go to all servers in turn if it accepts answers of some age. No
 * answer shows less than what the client has seen or changed before: a read names the latest
 * position of an answer. If an answer had none, as those of most APIs to changes, the leader
 * answers the next read and names a position that has that change. Thread-safe.
 */
final class StaleReads {
  private final HttpTransport server;
  private final @Nullable Duration bound;

  /** The latest position of an answer; null for none; guarded by this, as all that follows. */
  private @Nullable Position latest;

  /** How many answers had no position. */
  private long unnamed;

  /** How many of those came before the read that gave a later position. */
  private long included;

  /**
   * Reads from a server.
   *
   * @param bound the greatest age of an answer; null if the leader answers everything
   */
  StaleReads(HttpTransport server, @Nullable Duration bound) {
    this.server = server;
    this.bound = bound;
  }

  /** Sends a read. Throws what {@link HttpTransport#send} throws. */
  Response send(Request request) {
    if (bound == null) {
      return server.send(request, Idempotency.SAFE, new Call());
    }
    long before;
    Request asked;
    synchronized (this) {
      before = unnamed;
      boolean anywhere = included == unnamed;
      asked = request.stale(anywhere ? bound : Duration.ZERO, latest, anywhere);
    }
    Response response = server.send(asked, Idempotency.SAFE, new Call());
    if (saw(response)) {
      synchronized (this) {
        included = Math.max(included, before);
      }
    }
    return response;
  }

  /** Notes the position of an answer, unless a later one of the same history is known. */
  synchronized void saw(Position position) {
    Position known = latest;
    if (known == null
        || known.history() != position.history()
        || known.number() < position.number()) {
      latest = position;
    }
  }

  /** Notes an answer and returns whether it has a position. */
  private boolean saw(Response response) {
    String position = response.header(Responses.POSITION_HEADER);
    if (position != null) {
      try {
        saw(Position.parse(position));
        return true;
      } catch (IllegalArgumentException _) {
        // It says nothing about the order of answers.
      }
    }
    sawUnnamed();
    return false;
  }

  /** Notes an answer without a position, or one that was lost. */
  synchronized void sawUnnamed() {
    unnamed++;
  }
}
