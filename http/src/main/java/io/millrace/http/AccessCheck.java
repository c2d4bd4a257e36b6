package io.millrace.http;

import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may send a request, before anything of its body is read. Safe for use by threads.
 *
 * <p>The server calls it with the route that the request matched. A request that matches none is
 * checked like any other, so that only known callers learn which paths exist.
 */
@FunctionalInterface
public interface AccessCheck {
  /** Lets everybody in as {@link Caller#LOCAL}, but for what the credentials of a route say. */
  AccessCheck OPEN =
      (route, host, headers) -> {
        Caller caller = route.callerBy(headers);
        return caller == null ? Caller.LOCAL : caller;
      };

  /**
   * Lets a request pass.
   *
   * @param route the route that it matched
   * @param host the Host header
   * @param headers those of the request
   * @return who sends it
   * @throws HttpProblem 401 or 403 to turn it away
   */
  Caller check(Route route, String host, Headers headers);

  /**
   * A kind of credentials that the routes of one API take beside the server's token. Safe for use
   * by threads.
   */
  interface Credentials {
    /**
     * Who shows credentials of this kind.
     *
     * @return null if the request shows none
     * @throws HttpProblem 401 or 403 if it shows wrong ones
     */
    @Nullable Caller caller(Headers headers);

    /**
     * Whether a request of a route needs credentials of this kind even if it shows the server's
     * token or comes from this machine; 401 otherwise, by {@link #absent}.
     */
    default boolean isRequired() {
      return false;
    }

    /** How a request is turned away that shows neither these credentials nor the server's token. */
    default HttpProblem absent() {
      return new HttpProblem(401, "this server wants the header Authorization: Bearer TOKEN")
          .withHeader("WWW-Authenticate", "Bearer");
    }

    /** No further credentials. */
    Credentials NONE = _ -> null;
  }
}
