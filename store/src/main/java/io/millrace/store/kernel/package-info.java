/**
 * The implementation of the store in this process: the loop that owns the state, and the API for
 * callers. The state, the decisions, the journal's records, recovery, snapshots and subscriptions
 * have their own packages, none of which uses the loop.
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
 * In a strict store, an answer is sent once every frame that its decision depends on is durable.
 */
@NullMarked
package io.millrace.store.kernel;

import org.jspecify.annotations.NullMarked;
