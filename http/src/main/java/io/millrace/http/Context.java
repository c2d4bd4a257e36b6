package io.millrace.http;

import java.util.function.Consumer;

/**
 * What the connections of one listener share.
 *
 * @param limits what a client may ask for
 * @param memory the budget for what requests keep in memory
 * @param dispatcher answers requests
 * @param whenClosed called for each connection that is closed, perhaps twice
 */
record Context(
    HttpLimits limits,
    RequestMemory memory,
    Dispatcher dispatcher,
    Consumer<Connection> whenClosed) {}
