/**
 * The graph scheduler over HTTP: {@code /v1}, after Taskman.
 *
 * <pre>
 *   request --&gt; GraphMount (who asks, forms of errors)
 *                 |-- NodesRoutes, NodeRoutes, DataRoutes      --&gt; GraphRegistry
 *                 |-- SchedulerRoutes (kill, wait)             --&gt; GraphRegistry, Waiting
 *                 `-- EventsRoute --&gt; EventFeed --&gt; SSE, WebSocket
 * </pre>
 */
@NullMarked
package io.millrace.server.graph;

import org.jspecify.annotations.NullMarked;
