/**
 * How the leader has members run lambdas. It decides in one thread, round by round. How a
 * submission ends is decided at its partition's document: by the first that finishes or removes it.
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
