/**
 * The API of the task store: small immutable tasks and versioned documents, changed only by {@link
 * io.millrace.store.TaskStore#commit} and {@link io.millrace.store.TaskStore#claim}.
 *
 * <pre>
 *             add                    claim
 *   (nothing) ----> WAITING -------------------------> CLAIMED --+
 *       |              ^  ^---------------------------+   |      | renew
 *       | add later    |       lease ends, release        |  &lt;---+
 *       +--------> DELAYED                                | delete
 *                      time comes                         v
 *                                                     (nothing)
 * </pre>
 *
 * Every arrow except "time comes" and "lease ends" replaces the task by one with a larger id.
 */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
