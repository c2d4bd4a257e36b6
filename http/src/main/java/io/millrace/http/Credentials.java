package io.millrace.http;

import org.jspecify.annotations.Nullable;

/**
 * A kind of credentials that the routes of one API take beside the server's token. Safe for use by
 * threads.
 */
public interface Credentials {
  /**
   * Who shows credentials of this kind.
   *
   * @return null if the request shows none
   * @throws HttpProblem 401 or 403 if it shows wrong ones
   */
  @Nullable Caller caller(AccessCheck.Headers headers);

  /**
   * Whether a request of a route needs credentials of this kind even if it shows the server's token
   * or comes from this machine; 401 otherwise, by {@link #absent}.
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
