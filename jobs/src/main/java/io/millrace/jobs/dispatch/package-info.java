/**
 * Brings jobs and workers together. The dispatcher does nothing by itself: its driver calls {@code
 * step}, at once if it was woken.
 *
 * <pre>
 *   reports of workers ──► settle in the registry ──► tell the worker of a refusal
 *   ready workers, waiting jobs ──► assign in the registry ──► give to the worker
 *   active jobs ──► renew their claims ──► those that are lost are taken from the worker
 * </pre>
 */
@NullMarked
package io.millrace.jobs.dispatch;

import org.jspecify.annotations.NullMarked;
