/**
 * Partitions of work. Each is a document, which is also the lock of the member that works on it.
 *
 * <p>The name of a partition is {@code partition/GENERATION-NUMBER}. The generation is a fence of
 * the leader's lock; the document {@code generation} holds the newest, and no member takes
 * partitions of an older one. So if a leader does not know yet that it was replaced, the partitions
 * that it creates have no effect.
 *
 * <pre>
 *            created by the leader
 *                    │
 *                    ▼      take           finish
 *   outstanding, expire 0 ────► held ─────────────► done, expire 0 ──► deleted by the leader
 *                    ▲           │ release, or the lease ends
 *                    └───────────┘
 * </pre>
 */
@NullMarked
package io.millrace.cluster.partition;

import org.jspecify.annotations.NullMarked;
