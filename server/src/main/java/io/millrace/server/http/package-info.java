/**
 * The one place for HTTP: routes, limits, errors, request log and an orderly stop.
 *
 * <pre>
 *   Acceptor: at most so many connections, each with an event loop
 *     |
 *   Connection, on its event loop (one thread for many): the head, read strictly (Head)
 *     |
 *     +-- a plain request, once its body is whole
 *     |     --> PromptDispatcher --> Routes, AccessCheck
 *     |                          --> PromptHandler: Request -> Later
 *     |     --> what it waits for is done: Reply written, time and status recorded
 *     |
 *     +-- anything else, as soon as its head is complete --> RequestThread
 *     |     --> Dispatcher --> Routes (path and method)
 *     |                    --> AccessCheck (who sends it), before anything of the body is read
 *     |                    --> Handler: Request -> Reply, or a thrown HttpProblem
 *     |                    --> Reply written, time and status recorded
 *     |     --> the connection goes back to its loop
 *     |
 *     +-- a head that is malformed, late or too long --> refused, and closed once that is read
 * </pre>
 *
 * <p>Everything that a request keeps in memory is reserved in one {@link
 * io.millrace.server.http.RequestMemory}. A thread exists only while it serves a request. The
 * library parses a head that was checked before, and writes the answer; bodies are read by {@link
 * io.millrace.server.http.RequestBody}, so that nothing else buffers them.
 *
 * <p>Those who mount an API see {@link io.millrace.server.http.ApiRoutes}, {@link
 * io.millrace.server.http.Request}, {@link io.millrace.server.http.Reply} and {@link
 * io.millrace.server.http.HttpProblem}, and nothing of the HTTP library underneath.
 */
@NullMarked
package io.millrace.server.http;

import org.jspecify.annotations.NullMarked;
