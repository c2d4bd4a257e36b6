/**
 * A graph kept in a store. {@link io.millrace.graph.store.StoredGraph} is the entry.
 *
 * <pre>
 *   registry()  work()                reads
 *        |        |                     |
 *        v        v                     |
 *      operations, many together        |
 *        |                              |
 *      GraphCommits: runs them on the   |
 *        |      WriteModel, in memory   |
 *        |                              v
 *      GraphSession: one commit  ---> ReadModel: nodes, what is ready,
 *        of documents                 events, all of it durable
 * </pre>
 *
 * <p>If a commit fails, the write model is discarded and the graph is loaded again. Values of nodes
 * that are too large for a commit are blobs, which {@link io.millrace.graph.store.ValueStore} reads
 * and writes.
 */
@NullMarked
package io.millrace.graph.store;

import org.jspecify.annotations.NullMarked;
