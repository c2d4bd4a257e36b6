/**
 * Journals: numbered frames of what a store decided, and snapshots of what they add up to.
 *
 * <pre>
 *   recover: newest whole snapshot -> frames after it -> tail
 *   append:  frame n+1 -> written -> durable -> its future completes
 *   snapshot at frame n: parts -> published once frame n is durable -> trim
 * </pre>
 *
 * A journal knows nothing of what a payload means. {@link io.millrace.store.journal.files} keeps
 * one in files.
 */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
