package io.millrace.server.http;

import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;

/**
 * What the connections of one listener share.
 *
 * @param limits what a client may ask for
 * @param context what the library wants to know of the listener
 * @param router where the library sends requests
 * @param prompt where event loops send requests
 */
record Surroundings(
    HttpLimits limits, ListenerContext context, Router router, PromptDispatcher prompt) {
  /** A connection as an event loop sees it, from one request of the library's to the next. */
  Line line(EventLoop loop, Connection connection) {
    return new Line(loop, connection, prompt);
  }
}
