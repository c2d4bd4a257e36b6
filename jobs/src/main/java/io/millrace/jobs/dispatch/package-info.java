/**
 * What brings jobs and workers together. The dispatcher does nothing by itself: whoever drives it
 * calls its step, and at once when it is woken.
 *
 * <pre>
 *   reports of workers ──► settle in the registry ──► tell the worker of a refusal
 *   ready workers, waiting jobs ──► assign in the registry ──► give to the worker
 *   jobs in hand ──► renew their claims ──► those that are lost are taken from the worker
 * </pre>
 */
@NullMarked
package io.millrace.jobs.dispatch;

import org.jspecify.annotations.NullMarked;
