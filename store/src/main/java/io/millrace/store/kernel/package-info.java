/**
 * The store itself: a pure state machine, the loop that owns it, and what surrounds the loop.
 *
 * <pre>
 *   callers --Mailbox--> StoreLoop --Engine: decide--> Decision --apply--> State
 *                            |                            |
 *                         WaitingRoom                JournalFeed --append--> Journal --durable--+
 *                                                                                               |
 *   callers, subscribers, snapshots &lt;--- Outlets &lt;---------------------------------------------+
 * </pre>
 *
 * {@link io.millrace.store.kernel.Decider} reads the state and changes nothing; {@link
 * io.millrace.store.kernel.State#apply} alone changes it, and replay calls the same method. An
 * answer leaves once the frame that holds everything it rests on is durable.
 */
@NullMarked
package io.millrace.store.kernel;

import org.jspecify.annotations.NullMarked;
