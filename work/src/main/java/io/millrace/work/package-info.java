/**
 * What the layers on the store have in common.
 *
 * <ul>
 *   <li>{@link io.millrace.work.StoreSession}: commits with retries, refusals as a layer's own
 *       exceptions, reads page by page.
 *   <li>{@link io.millrace.work.Step} and {@link io.millrace.work.StepLoop}: an activity is a
 *       method that does what is due at a given time. In production a loop with a thread of its own
 *       calls it; a test or a simulation calls it directly, with its own time.
 *   <li>{@link io.millrace.work.Subscriber}, {@link io.millrace.work.Watch}, {@link
 *       io.millrace.work.SharedWatch}, {@link io.millrace.work.DocumentChanges}: following what
 *       changes.
 *   <li>{@link io.millrace.work.LeaseKeeper}: keeps a claim alive, and ends the work in time when
 *       that fails.
 *   <li>{@link io.millrace.work.GroupCommit}: requests that arrive together share a transaction.
 *   <li>{@link io.millrace.work.DelayedTasks}, {@link io.millrace.work.DueTimes}: when delayed
 *       tasks can be claimed, for an activity that claims them.
 *   <li>{@link io.millrace.work.Explanation}: why a piece of work waits.
 *   <li>{@link io.millrace.work.policy}: the settings of retries and delays that queues and jobs
 *       share.
 *   <li>{@link io.millrace.work.bulk}: one action on many items, in the background.
 *   <li>{@link io.millrace.work.filter}: chooses items by the values of their fields.
 *   <li>{@link io.millrace.work.elastic}: requests to search engines.
 *   <li>{@link io.millrace.work.Backoff}, {@link io.millrace.work.MonotonicClock}, {@link
 *       io.millrace.work.TrustedCertificates}.
 * </ul>
 */
@NullMarked
package io.millrace.work;

import org.jspecify.annotations.NullMarked;
