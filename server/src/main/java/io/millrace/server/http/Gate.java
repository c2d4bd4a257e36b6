package io.millrace.server.http;

import org.jspecify.annotations.Nullable;

/** Decides who may ask, before anything else of a request is looked at. Safe for use by threads. */
@FunctionalInterface
public interface Gate {
  /** The headers of a request. */
  @FunctionalInterface
  interface Headers {
    /**
     * The value of the header of this name, in any case; null when there is none.
     *
     * @throws HttpProblem 400 when there are several
     */
    @Nullable String only(String name);
  }

  /** Lets everybody in. */
  Gate OPEN = (path, host, origin, authorization) -> true;

  /**
   * Lets a request pass.
   *
   * @param path the path as it was sent, without the query
   * @param host the Host header
   * @param origin the Origin header; null where there is none
   * @param authorization the Authorization header; null where there is none
   * @return whether the caller is known: its credentials were checked, or none are needed at all
   * @throws HttpProblem to turn it away
   */
  boolean check(String path, String host, @Nullable String origin, @Nullable String authorization);

  /**
   * The same for a request that may carry other credentials than the Authorization header.
   *
   * @param headers those of the request
   * @return whether the caller is known
   * @throws HttpProblem to turn it away
   */
  default boolean check(
      String path,
      String host,
      @Nullable String origin,
      @Nullable String authorization,
      Headers headers) {
    return check(path, host, origin, authorization);
  }
}
