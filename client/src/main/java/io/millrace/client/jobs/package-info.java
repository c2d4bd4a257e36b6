/**
 * Workers of the job server: {@link io.millrace.client.jobs.JobWorker} receives jobs over a
 * WebSocket, passes each to a {@link io.millrace.client.jobs.JobHandler}, and sends back the
 * result.
 *
 * <pre>
 *   server --> WorkerConnection --> Spool (memory, then a file) --> JobHandler, a thread for each job
 *                |      \                                                |
 *                |       status, lost jobs --> active jobs              |
 *                v                                                      v
 *              JobWorker: connects again                              Outbox, one thread --> server
 * </pre>
 *
 * <p>Payloads are received as fast as they arrive, into a file if they are long, and can be read
 * meanwhile: a handler that reads slowly delays neither other jobs nor pings. Results are sent in
 * fragments. A job belongs to the connection over which it arrived: if that ends, the server offers
 * its jobs to other workers at once, so their handlers are cancelled.
 */
@NullMarked
package io.millrace.client.jobs;

import org.jspecify.annotations.NullMarked;
