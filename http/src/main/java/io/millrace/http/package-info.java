/**
 * The one place for HTTP: routes, limits, errors, request log and an orderly stop.
 *
 * <pre>
 *   Acceptor: at most so many connections, each with an event loop
 *     |
 *   Connection, on its event loop (one thread for many): the head, read strictly (Head)
 *     |
 *     +-- a plain request (short, of stated length), once its body is whole
 *     |     --> Dispatcher --> Routes, AccessCheck
 *     |                    --> NonBlockingHandler: Request -> AsyncReply
 *     |     --> when that is done: ReplyText written, time and status recorded
 *     |
 *     +-- any other, as soon as its head is complete --> RequestThread
 *     |     --> Dispatcher --> Routes (path and method)
 *     |                    --> AccessCheck (who sends it), before anything of the body is read
 *     |                    --> Handler: Request -> Reply, or a thrown HttpProblem
 *     |                    --> ReplyText written, time and status recorded
 *     |     --> the connection goes back to its loop
 *     |
 *     +-- a head that is malformed, late or too long --> refused, and closed once that is read
 * </pre>
 *
 * <p>A Request is read, checked and routed once, whoever answers it. Everything that a request
 * keeps in memory is reserved in one {@link io.millrace.http.RequestMemory}. A thread exists only
 * while it serves a request; it reads the body itself, by {@link io.millrace.http.RequestBody}.
 *
 * <p>To mount an API, see {@link io.millrace.http.ApiRoutes}, {@link io.millrace.http.Request},
 * {@link io.millrace.http.message.Reply} and {@link io.millrace.http.message.HttpProblem}.
 */
@NullMarked
package io.millrace.http;

import org.jspecify.annotations.NullMarked;
