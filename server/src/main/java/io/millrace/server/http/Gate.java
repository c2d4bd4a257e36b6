package io.millrace.server.http;

import org.jspecify.annotations.Nullable;

/** Decides who may ask, before anything else of a request is looked at. Safe for use by threads. */
@FunctionalInterface
public interface Gate {
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
     * @throws HttpProblem 400 when there are several
     */
    @Nullable String only(String name);
  }

  /** Lets everybody in. */
  Gate OPEN = (path, host, headers) -> true;

  /**
   * Lets a request pass.
   *
   * @param path as it was sent, without the query
   * @param host the Host header
   * @param headers those of the request
   * @return whether the caller is known: its credentials were checked, or none are needed at all
   * @throws HttpProblem to turn it away
   */
  boolean check(String path, String host, Headers headers);
}
