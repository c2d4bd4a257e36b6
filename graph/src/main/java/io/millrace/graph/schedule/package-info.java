/**
 * The scheduler of graphs: starts what is ready, ends what is to end, and brings every attempt's
 * end into the graph.
 *
 * <pre>
 *   graph                     scheduler's thread                 virtual threads
 *     | --- ready, running ------->  |                                  |
 *     | &lt;-- start (on record) -----  |                                  |
 *     |                              | ---- begin, or find again -----> |
 *     |                              | &lt;--- begun ---------------------- | writes "begun"
 *     | --- to be killed ---------> | ---- kill ----------------------> |
 *     |                              | &lt;--- over ----------------------- | the attempt has ended
 *     |                              | ---- end (on record) ----------> |
 *     | &lt;------------------------------------------------------------- |
 *     |                              | &lt;--- stored --------------------- |
 *     |                              | ---- remove its folder --------> |
 * </pre>
 *
 * <p>What it promises: <b>an attempt is begun at most once, and only after its start is on
 * record.</b> A command that ran without the graph knowing of it does not exist. When a server
 * dies, the next one asks the type of every node that runs on record to find its attempt again.
 * Where nothing is found, and a file shows that this machine has run on since and {@code start} had
 * not returned, the attempt has never begun, and is begun now. In all other cases it has failed,
 * with a reason that says what was lost, and is repeated if the node asks for that by {@code
 * retries}.
 *
 * <p>The files: {@code boot} names the last server and by it the machine's boot. {@code
 * ID.ATTEMPT/} is what the type of an attempt has for itself, and {@code ID.ATTEMPT.begun} says
 * that the type's {@code start} has returned, a link to {@code boot} if links can be made. None is
 * synced to disk. The folder of a program that is over is emptied and becomes that of another
 * attempt, so a few are there that nobody uses; the next server removes them.
 *
 * <p>{@link io.millrace.graph.schedule.GraphScheduler} is a {@link io.millrace.work.Step}, which a
 * {@link io.millrace.work.StepLoop} drives in a server.
 */
@NullMarked
package io.millrace.graph.schedule;

import org.jspecify.annotations.NullMarked;
