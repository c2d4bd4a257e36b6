/**
 * The settings that queues and jobs share about when work runs, what happens if it fails and when
 * it is a duplicate. Pure: no clock, no randomness of its own, no store.
 *
 * <p>A {@link io.millrace.work.policy.Policy} holds the settings as they were given, so that those
 * of one task can be laid over the defaults of its queue or type. {@link
 * io.millrace.work.policy.RetryPolicy} decides what follows from a failure.
 */
@NullMarked
package io.millrace.work.policy;

import org.jspecify.annotations.NullMarked;
