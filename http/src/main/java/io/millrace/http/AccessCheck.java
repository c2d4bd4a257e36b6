package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the sender of a request and decides whether it is let in, before any of the body is
 * read. Thread-safe.
 *
 * <p>A request that matches no route is checked too, so that only known callers learn which paths
 * exist.
 */
@FunctionalInterface
public interface AccessCheck {
  /**
   * Lets everybody in: as the caller of the route's credentials, otherwise as {@link Caller#LOCAL}.
   */
  AccessCheck OPEN =
      attempt -> {
        Caller caller = attempt.route().callerBy(attempt.headers());
        return caller == null ? Caller.LOCAL : caller;
      };

  /**
   * Checks a request. A refusal is final: it is not asked again for the same request.
   *
   * @return the sender; null if the check takes long and {@link Attempt#mayBlock} is false: it is
   *     then called again on a thread of the request
   * @throws HttpProblem 401, 403 or 429 if the request is not let in
   */
  @Nullable Caller check(Attempt attempt);

  /**
   * Where a request comes from. Called once for each request, before it is checked.
   *
   * @param peer the other end of the connection
   * @throws HttpProblem 403 or 429 if a header says so that does not count
   */
  default Source sourceOf(InetAddress peer, Head head) {
    return new Source(peer, peer, null);
  }

  /**
   * Checks whether a client may show a secret in the content of a request or of a WebSocket, such
   * as the token in the registration of a worker. The default lets everybody.
   *
   * @param client its address, see {@link Source#client}
   * @throws HttpProblem 429 if it has shown too many wrong ones
   */
  default void checkPace(InetAddress client) {}

  /** Counts a wrong secret in such content. The default does nothing. */
  default void wrongSecret(InetAddress client, String secret) {}

  /**
   * Somebody whom a proxy has signed in.
   *
   * @param name the name that the proxy gives
   * @param groups what it says of the groups of the person; empty if it says nothing
   */
  record Person(String name, String groups) {}

  /**
   * Where a request comes from.
   *
   * @param peer the other end of the connection: the client, a proxy, or another server
   * @param client the address of the client, as far as proxies and other servers tell it
   * @param person for whom another server passes the request on, because a proxy has signed them in
   *     there; null for nobody
   */
  record Source(InetAddress peer, InetAddress client, @Nullable Person person) {}

  /**
   * What is known of a request before it is let in.
   *
   * @param route the matched route; a placeholder if none matched
   * @param host the value of the header Host
   * @param headers the headers of the request
   * @param source where it comes from
   * @param secure whether the request came over TLS
   * @param mayBlock whether the check may take long; false on an event loop
   */
  record Attempt(
      Route route, String host, Headers headers, Source source, boolean secure, boolean mayBlock) {
    /** The same request to another route, by a thread that may block. */
    public Attempt at(Route other) {
      return new Attempt(other, host, headers, source, secure, true);
    }
  }

  /**
   * A kind of credentials that the routes of one API accept besides the server's token.
   * Thread-safe.
   */
  interface Credentials {
    /**
     * The caller with the credentials in these headers.
     *
     * @return null if there are no credentials of this kind
     * @throws HttpProblem 401 or 403 if they are wrong
     */
    @Nullable Caller caller(Headers headers);

    /** Whether these headers hold something that may be credentials of this kind. */
    default boolean isShown(Headers headers) {
      return headers.only(Headers.AUTHORIZATION) != null;
    }

    /**
     * Whether somebody could guess such credentials, so that attempts are slowed down. False for
     * random ones.
     */
    default boolean isGuessable() {
      return true;
    }

    /**
     * Whether requests need credentials of this kind even if they have the server's token or come
     * from this machine. If they are missing, the request is answered with {@link #absent}. The
     * default is false.
     */
    default boolean isRequired() {
      return false;
    }

    /**
     * The error, usually 401, for a request with neither these credentials nor the server's token.
     */
    default HttpProblem absent() {
      return new HttpProblem(401, "this server requires the header Authorization: Bearer TOKEN")
          .withHeader("WWW-Authenticate", "Bearer");
    }

    /** The names of their security schemes in the OpenAPI document; empty if they have none. */
    default List<String> schemes() {
      return List.of();
    }

    /** No credentials besides the server's token. */
    Credentials NONE = _ -> null;
  }
}
