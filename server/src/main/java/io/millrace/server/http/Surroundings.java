package io.millrace.server.http;

import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.util.function.Consumer;

/**
 * What the connections of one listener share.
 *
 * @param limits what a client may ask for
 * @param memory the budget for what requests keep in memory
 * @param library how requests with a thread are served
 * @param prompt where event loops send requests
 * @param whenClosed is told of each connection that is closed, perhaps twice
 */
record Surroundings(
    HttpLimits limits,
    RequestMemory memory,
    Served library,
    PromptDispatcher prompt,
    Consumer<Connection> whenClosed) {
  /**
   * How requests with a thread are served.
   *
   * @param http the library's HTTP/1.1
   * @param context what the library wants to know of the listener
   * @param router where the library sends requests
   */
  record Served(Http1ConnectionSelector http, ListenerContext context, Router router) {}

  Http1ConnectionSelector http() {
    return library.http();
  }

  ListenerContext context() {
    return library.context();
  }

  Router router() {
    return library.router();
  }

  /** Notes that a connection is closed. */
  void closed(Connection connection) {
    whenClosed.accept(connection);
  }
}
