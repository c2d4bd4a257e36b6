/**
 * Workers of the job server: {@link io.millrace.client.jobs.JobWorker} holds a WebSocket, gives
 * each payload to a {@link io.millrace.client.jobs.JobHandler}, and sends back what it returns.
 *
 * <pre>
 *   server --> WorkerConnection --> Spool (memory, then a file) --> JobHandler, a thread for each job
 *                |      \                                                |
 *                |       status, lost jobs --> active jobs              |
 *                v                                                      v
 *              JobWorker: connects again                              Outbox, one thread --> server
 * </pre>
 *
 * <p>Payloads are taken as fast as they come, into a file if they are long, and can be read while
 * they come: a handler that reads slowly delays neither other jobs nor signs of life. Results are
 * sent in fragments. A job belongs to the connection over which it came: when that ends, the server
 * offers its jobs to others at once, so their handlers are cancelled.
 */
@NullMarked
package io.millrace.client.jobs;

import org.jspecify.annotations.NullMarked;
