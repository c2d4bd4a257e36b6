package io.millrace.http;

import org.jspecify.annotations.Nullable;

/**
 * Decides who may send a request, before anything of its body is read. Safe for use by threads.
 *
 * <p>The server calls it with the route that the request matched. A request that matches none is
 * checked like any other, so that only known callers learn which paths exist.
 */
@FunctionalInterface
public interface AccessCheck {
  /** The header that says which page a request comes from. */
  String ORIGIN = "Origin";

  /** The header with the usual credentials. */
  String AUTHORIZATION = "Authorization";

  /** The headers of a request. */
  @FunctionalInterface
  interface Headers {
    /**
     * The value of the header of this name, in any case; null if there is none.
     *
     * @throws HttpProblem 400 if it comes several times
     */
    @Nullable String only(String name);
  }

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
}
