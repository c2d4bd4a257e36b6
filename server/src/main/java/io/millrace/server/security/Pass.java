package io.millrace.server.security;

/** Further tokens, each of which opens a part of the server. Safe for use by threads. */
@FunctionalInterface
public interface Pass {
  /** None. */
  Pass NONE = (path, token) -> false;

  /**
   * Whether somebody with this token may ask for this path; what he may do there is checked there.
   *
   * @param path as it was sent, without the query
   * @param token not that of the server
   */
  boolean opens(String path, String token);
}
