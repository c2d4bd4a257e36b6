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
 * <p>Every step is a write at an expected version, so of two members that attempt the same step
 * only one succeeds. Clocks are never compared: a member takes a lock that was not released only
 * after it has seen the same version for lease and margin by its own clock ({@link
 * io.millrace.cluster.lock.ObservedLocks}).
 *
 * <p>If the outcome of a write is unclear, the document is read: it holds what was written, the
 * version to be replaced, or something else. While it cannot be read, nothing is assumed: a lock
 * that is not known to be taken is not held, and a lock that is not known to be renewed ends with
 * its current lease.
 *
 * <p>Fences come from blocks. The document {@code fences} holds the next free block, and each new
 * document gets one. So the fences of a lock grow even if its document was deleted and created
 * again.
 */
@NullMarked
package io.millrace.cluster.lock;

import org.jspecify.annotations.NullMarked;
