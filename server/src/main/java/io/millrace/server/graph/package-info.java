/**
 * The graph scheduler over HTTP: {@code /v1}, after Taskman.
 *
 * <pre>
 *   request --&gt; GraphPart (callers, error responses)
 *                 |-- NodeRoutes, DataRoutes                   --&gt; GraphRegistry
 *                 |-- SchedulerRoutes (kill, wait)             --&gt; GraphRegistry, NodeWatch
 *                 `-- GraphEvents --&gt; server-sent events, WebSocket
 * </pre>
 */
@NullMarked
package io.millrace.server.graph;

import org.jspecify.annotations.NullMarked;
