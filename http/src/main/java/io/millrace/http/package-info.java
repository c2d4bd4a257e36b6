/**
 * The HTTP server: connections, routes, limits, errors, the request log and a graceful stop.
 *
 * <pre>
 *   Acceptor: accepts connections up to a limit, assigns each to an event loop
 *     |
 *     +-- if the server has a certificate --> HandshakeThread
 *     |
 *   Connection, on its event loop (one thread for many): parses the head strictly (Head)
 *     |
 *     +-- a plain request (short, with Content-Length), once its body is complete
 *     |     --> Dispatcher --> Routes, AccessCheck
 *     |                    --> NonBlockingHandler: Request -> AsyncResponse
 *     |     --> when the response is ready: ResponseEncoder is written, time and status are recorded
 *     |
 *     +-- any other request, once its head is complete --> RequestThread
 *     |     --> Dispatcher --> Routes (path and method)
 *     |                    --> AccessCheck (who the caller is), before any of the body is read
 *     |                    --> Handler: Request -> Response, or a thrown HttpProblem
 *     |                    --> ResponseEncoder is written, time and status are recorded
 *     |     --> the connection returns to its loop
 *     |
 *     +-- a malformed, late or too long head --> refused, then the connection is closed
 * </pre>
 *
 * <p>Each request is parsed, checked and routed once, on the loop or on a thread. All memory that
 * requests use is reserved in one {@link io.millrace.http.RequestMemory}. A thread exists only
 * while it serves a request; it reads the body itself, from a {@link io.millrace.http.RequestBody}.
 *
 * <p>To add an API, see {@link io.millrace.http.ApiRoutes}, {@link io.millrace.http.Request},
 * {@link io.millrace.http.message.Response} and {@link io.millrace.http.message.HttpProblem}.
 */
@NullMarked
package io.millrace.http;

import org.jspecify.annotations.NullMarked;
