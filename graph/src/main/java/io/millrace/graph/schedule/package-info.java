/**
 * The scheduler of graphs: it starts ready nodes, kills attempts, and records the end of every
 * attempt in the graph.
 *
 * <pre>
 *   graph                     scheduler's thread                 virtual threads
 *     | --- ready, running ------->  |                                  |
 *     | &lt;-- claim permits ---------  |  (of nodes with limits)           |
 *     | &lt;-- start (recorded) ------  |                                  |
 *     |                              | ---- begin, or find again -----> |
 *     |                              | &lt;--- begun ---------------------- | writes "begun"
 *     | --- to be killed ---------> | ---- kill ----------------------> |
 *     |                              | &lt;--- over ----------------------- | the attempt has ended
 *     |                              | ---- end (recorded) -----------> |
 *     | &lt;------------------------------------------------------------- |
 *     |                              | &lt;--- stored --------------------- |
 *     |                              | ---- remove its folder --------> |
 * </pre>
 *
 * <p>The guarantee: <b>an attempt begins at most once, and only after its start has been
 * recorded.</b> So no command runs that is not in the graph. If a server dies, the next one asks
 * the type of every running node to find its attempt again. If nothing is found, and the files show
 * that the machine was not restarted and that {@code start} had not returned, the attempt has never
 * begun, and is begun now. In all other cases it has failed, with a reason that says what was lost,
 * and is repeated if the node has {@code retries} left.
 *
 * <p>The files: {@code boot} identifies the last server, and with it the boot of the machine.
 * {@code ID.ATTEMPT/} is for the type of an attempt, and {@code ID.ATTEMPT.begun} says that the
 * type's {@code start} has returned; it is a link to {@code boot} if links are possible. None is
 * synced to disk. The folder of a program that has ended is emptied and used again for another
 * attempt, so a few folders are spare; the next server removes them.
 *
 * <p>{@link io.millrace.graph.schedule.GraphScheduler} is a {@link io.millrace.work.Step}, which a
 * {@link io.millrace.work.StepLoop} drives in a server.
 */
@NullMarked
package io.millrace.graph.schedule;

import org.jspecify.annotations.NullMarked;
