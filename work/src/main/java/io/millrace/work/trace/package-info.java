/**
 * Traces of work across processes, in the terms of W3C Trace Context.
 *
 * <p>A {@link io.millrace.work.trace.TraceContext} is stored with the work when it is submitted.
 * All processes derive the same ids of its spans from it, so they agree without telling each other;
 * the server makes the {@link io.millrace.work.trace.Span}s from what is stored, when it sees in
 * the store that an attempt or the work has ended ({@link io.millrace.work.trace.SpanRecorder}).
 *
 * <pre>
 *   the submitter's span                    of the traceparent header
 *    └ POST /dci/tasks/{queue}              the request that submitted the work
 *       └ task thumbnails                   the work, from its submission to its end
 *          ├ wait thumbnails                until the first attempt
 *          ├ attempt thumbnails             its id is what programs get in TRACEPARENT
 *          ├ wait thumbnails                until the next attempt
 *          └ attempt thumbnails
 * </pre>
 */
@NullMarked
package io.millrace.work.trace;

import org.jspecify.annotations.NullMarked;
