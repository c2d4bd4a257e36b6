/**
 * Task runners: processes of their own that run the tasks which a node has claimed.
 *
 * <pre>
 *   node (LocalRunners)              runner (RunnerProgram)             task (own group)
 *     | starts, one folder each -------> |                                  |
 *     | &lt;--- hello (Unix socket) ------- |                                  |
 *     | ---- run, plugin, limits ------> | start, in the store              |
 *     |                                  | ---- starts -------------------> |
 *     |                                  | renews, uploads output           |
 *     |                                  | &lt;------------ ends ------------- |
 *     |                                  | finish, in the store             |
 *     | &lt;--- ended --------------------- |                                  |
 * </pre>
 *
 * <p>What a node hands over is in a file of the runner's folder first and may be handed over again:
 * the store lets a run start and end once. So either side may die at any point. The node can go:
 * the runner works on and connects to its successor, which tells it where the server is now. When
 * the runner goes, its watchdog, a shell in a session of its own that reads a pipe, sees the pipe's
 * end and kills what the task left.
 *
 * <p>What belongs to the task is certain from its first moment, in one of two ways. A runner that
 * stays for more than one task, on Linux, starts programs itself in process groups of their own in
 * its session, and the watchdog ends with it all that is of this session; so does a node, which the
 * file {@code session} in the runner's folder tells that. Otherwise a program is a session of its
 * own, held as a shell at a gate, a line on its standard input, until the watchdog knows it and the
 * file {@code group} names it.
 */
@NullMarked
package io.millrace.queues.runner;

import org.jspecify.annotations.NullMarked;
