package io.millrace.http.message;

import org.jspecify.annotations.Nullable;

/** The headers of a request. */
@FunctionalInterface
public interface Headers {
  /** The header that says which page a request comes from. */
  String ORIGIN = "Origin";

  /** The header with the usual credentials. */
  String AUTHORIZATION = "Authorization";

  /**
   * The value of the header of this name, in any case; null if there is none.
   *
   * @throws HttpProblem 400 if it comes several times
   */
  @Nullable String only(String name);
}
