/**
 * How the leader has lambdas run. It decides in one thread, turn by turn; what a submission comes
 * to is decided by its partition's document: whoever finishes it or removes it first.
 *
 * <pre>
 *   submitted ──► offered ──► begun ──► done ──► outcome read, told, both documents removed
 *       │            │          │
 *       └────────────┴──────────┴── cancelled, over its time, not begun within three leases, given up,
 *                                   its member gone or marked as dead ──► partition removed ──► told
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote.dispatch;

import org.jspecify.annotations.NullMarked;
