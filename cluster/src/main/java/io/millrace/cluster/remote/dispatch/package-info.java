/**
 * Sends lambdas to members, on the leader's thread, round by round. How a submission ends is
 * decided by its partition's document: either the member completes it or the leader removes it.
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
