package io.millrace.server.security;

import io.millrace.server.http.Gate;

/** Further credentials, each of which opens a part of the server. Safe for use by threads. */
@FunctionalInterface
public interface Pass {
  /** None. */
  Pass NONE = (path, headers) -> false;

  /**
   * Whether a request without the server's token may reach this path. The route itself checks what
   * the request may do there.
   *
   * @param path as it was sent, without the query
   * @param headers those of the request
   */
  boolean opens(String path, Gate.Headers headers);

  /** Opens what this one or {@code other} opens. */
  default Pass or(Pass other) {
    return (path, headers) -> opens(path, headers) || other.opens(path, headers);
  }
}
