/**
 * The one place for HTTP: routes, limits, errors, request log and an orderly stop.
 *
 * <pre>
 *   connection (a virtual thread)
 *     --> Dispatcher --> Gate (who may ask)
 *                    --> Routes (path and method)
 *                    --> Handler: Request -> Reply, or a thrown HttpProblem
 *                    --> Reply written, time and status recorded
 * </pre>
 *
 * Those who mount an API see {@link io.millrace.server.http.Routes}, {@link
 * io.millrace.server.http.Request}, {@link io.millrace.server.http.Reply} and {@link
 * io.millrace.server.http.HttpProblem}, and nothing of the HTTP library underneath.
 */
@NullMarked
package io.millrace.server.http;

import org.jspecify.annotations.NullMarked;
