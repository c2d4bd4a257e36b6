/**
 * Leases on documents, with fencing tokens.
 *
 * <pre>
 *              take: fence + 1                      renew
 *   released ───────────────────► held by a member ───────┐
 *   expire 0 ◄───────────────────  expire = now + lease ◄─┘
 *      ▲         release              │
 *      │                              │ not renewed: the holder stops by its own clock after the
 *      │                              ▼ lease, anybody may take it after lease + margin
 *      └───────────────────────── abandoned
 * </pre>
 *
 * <p>Every step is a write at an expected version, so of two members that want the same only one
 * succeeds. No clock is compared with another: a member takes a lock that was not released only
 * after it has had the same version before it for lease and margin by its own clock ({@link
 * io.millrace.cluster.lock.ObservedLocks}).
 *
 * <p>If the outcome of a write is unclear, the document is read: it holds what was written, or
 * still the version that was to be replaced, or something else. While it cannot be read, nothing is
 * assumed: a lock that is not known to be taken is not held, and one that is not known to be
 * renewed ends with the lease that it had.
 *
 * <p>Fences come from blocks that the document {@code fences} gives out, one block for each
 * document that is created. So the fences of a lock grow even if its document was deleted and
 * created again.
 */
@NullMarked
package io.millrace.cluster.lock;

import org.jspecify.annotations.NullMarked;
