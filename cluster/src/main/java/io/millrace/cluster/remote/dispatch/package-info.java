/**
 * Sends lambdas to members, on the leader's thread, round by round. How a submission ends is
 * decided by its partition's document: either the member completes it or the leader removes it.
 *
 * <pre>
 *   submitted ──► created ──► begun ──► done ──► outcome read and reported, both documents removed
 *       │            │          │
 *       └────────────┴──────────┴── cancelled, past its time limit, not begun within three leases, released,
 *                                   member gone or marked as dead ──► partition removed, end reported
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote.dispatch;

import org.jspecify.annotations.NullMarked;
