/**
 * Jobs that are submitted as a part of a transaction of the application.
 *
 * <pre>
 *   transaction of the application                        OutboxRelay, one of all instances at a time
 *   JobOutbox.submit --> row in millrace_outbox -commit-> 1. notes that it sends the row
 *                                                         2. submits the job, with the request id of the row
 *                                                         3. deletes the row
 * </pre>
 *
 * <p>After a crash between 2 and 3 the row is sent again with the same request id, by which the
 * server knows it: it makes no second job.
 */
@NullMarked
package io.millrace.spring.outbox;

import org.jspecify.annotations.NullMarked;
