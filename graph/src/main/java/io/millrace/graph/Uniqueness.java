package io.millrace.graph;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.work.policy.UniqueKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * By what a request to add nodes is known: while an earlier one with the same key or id counts,
 * nothing is added. Immutable.
 *
 * @param key a unique key, or the keys of data whose values make it, of all nodes together with
 *     their types. It is held by all nodes of a request together: until one of them has started,
 *     until all of them have settled, or for a period; null for none
 * @param request a random id of the request, of 1 to {@value #MAX_REQUEST} characters, by which a
 *     client repeats a request whose answer it has not got; it counts for {@link #REQUEST_PERIOD},
 *     whatever becomes of the nodes; null for none
 */
public record Uniqueness(@Nullable UniqueKey key, @Nullable String request) {
  /** The most characters of the id of a request. */
  public static final int MAX_REQUEST = 128;

  /** For how long the id of a request is remembered. */
  public static final Duration REQUEST_PERIOD = Duration.ofDays(7);

  /** Nodes are added in any case. */
  public static final Uniqueness NONE = new Uniqueness(null, null);

  /**
   * Checks both.
   *
   * @throws InvalidGraphException if the id is too long or empty
   */
  public Uniqueness {
    if (request != null && (request.isEmpty() || request.length() > MAX_REQUEST)) {
      throw new InvalidGraphException(
          "the id of a request has 1 to " + MAX_REQUEST + " characters, not " + request.length());
    }
  }
}
