/**
 * The store itself: the loop that owns the state, and the face that callers use. The state, the
 * decisions, the journal's records, recovery, snapshots and subscriptions have packages of their
 * own, none of which knows the loop.
 *
 * <pre>
 *   callers --Mailbox--> StoreLoop --Engine: decide--> Decision --apply--> State
 *                            |                            |
 *                       WaitingClaims                JournalFeed --append--> Journal --durable--+
 *                                                                                               |
 *   callers, subscribers, snapshots &lt;--- CommitPipeline &lt;---------------------------------------+
 * </pre>
 *
 * {@link io.millrace.store.kernel.decisions.Decider} reads the state and changes nothing; {@link
 * io.millrace.store.kernel.state.State#apply} alone changes it, and replay calls the same method.
 * An answer leaves once the frame that holds everything it rests on is durable.
 */
@NullMarked
package io.millrace.store.kernel;

import org.jspecify.annotations.NullMarked;
