/**
 * Journals: numbered frames of a store's commits, and snapshots of the resulting state.
 *
 * <pre>
 *   recover: newest complete snapshot -> frames after it -> tail
 *   append:  frame n+1 -> written -> durable -> its future completes
 *   snapshot at frame n: parts -> published once frame n is durable -> trim
 * </pre>
 *
 * A journal does not interpret payloads. {@link io.millrace.store.journal.files} implements it with
 * files.
 */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
