/**
 * Queues in a MongoDB database as Disbatch 4 has them, beside its own nodes, task runners and
 * command interfaces.
 *
 * <pre>
 *   collection     documents
 *   queues         name (unique), plugin, threads, sort, nodes_pin, nodes_ignore
 *   tasks          queue, ctime, mtime, node, status, params, stdout, stderr
 *   nodes          node (unique), timestamp, maxthreads; of ours also millrace, see MongoNodes
 *   config         label, log4perl, task_runner, plugins, activequeues, ignorequeues, active
 *   tasks.files    filename, length, chunkSize, uploadDate, metadata.task_id
 *   tasks.chunks   files_id, n, data (a string; binary data is read too)
 *
 *   status   -2 ──claim──► -1 ──begin──► 0 ──finish──► 1, 2, …
 *             ▲  {node: null} ► node      │
 *             └──give back──┘  └──────────┴──orphan──► -6
 * </pre>
 *
 * <p>A claim sets {@code mtime}, and its begin leaves it as it is. So (node, mtime) names a claim,
 * as a fencing token does: begin, give back, finish and orphan change a task only while it still
 * has both. Each is one update of one document. What is unclear because an answer was lost is
 * cleared up by reading the task.
 *
 * <p>What a task store promises and MongoDB cannot: see {@link io.millrace.mongo.MongoRuns}.
 */
@NullMarked
package io.millrace.mongo;

import org.jspecify.annotations.NullMarked;
