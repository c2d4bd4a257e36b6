/**
 * The one place for HTTP: routes, limits, errors, request log and an orderly stop.
 *
 * <pre>
 *   bytes on a connection
 *     |
 *     +-- a whole plain request --> event loop (one thread for many connections)
 *     |     --> PromptDispatcher --> Gate, Routes
 *     |                          --> PromptHandler: Request -> Later
 *     |     --> what it waits for is done: Reply written, time and status recorded
 *     |
 *     +-- anything else, and all that went wrong above --> the connection's own virtual thread,
 *           on which the library reads the request again
 *           --> Dispatcher --> Gate (who may ask)
 *                          --> Routes (path and method)
 *                          --> Handler: Request -> Reply, or a thrown HttpProblem
 *                          --> Reply written, time and status recorded
 * </pre>
 *
 * <p>The library asks {@link io.millrace.server.http.ReadAhead} for the bytes of its next request;
 * that is where plain ones are served without it. So both ways share the connection, its limits and
 * its order, and every answer but a good one is given in one place.
 *
 * <p>Those who mount an API see {@link io.millrace.server.http.Routes}, {@link
 * io.millrace.server.http.Request}, {@link io.millrace.server.http.Reply} and {@link
 * io.millrace.server.http.HttpProblem}, and nothing of the HTTP library underneath.
 */
@NullMarked
package io.millrace.server.http;

import org.jspecify.annotations.NullMarked;
