package io.millrace.http.message;

import org.jspecify.annotations.Nullable;

/** The headers of a request. */
@FunctionalInterface
public interface Headers {
  /** The name of the header with the origin of the page that sends a request. */
  String ORIGIN = "Origin";

  /** The name of the header with the usual credentials. */
  String AUTHORIZATION = "Authorization";

  /**
   * The value of a header, in any case of its name; null if there is none.
   *
   * @throws HttpProblem 400 if it is given several times
   */
  @Nullable String only(String name);

  /** The same if the header may be given several times: its last value. */
  default @Nullable String last(String name) {
    return only(name);
  }

  /**
   * Whether a header {@code Upgrade} asks for a WebSocket. Some clients offer HTTP/2 with every
   * request; the offer is ignored.
   *
   * @param upgrade its value; null if there is none
   */
  static boolean asksForWebSocket(@Nullable String upgrade) {
    return upgrade != null && !upgrade.equalsIgnoreCase("h2c");
  }
}
