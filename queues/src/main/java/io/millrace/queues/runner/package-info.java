/**
 * Task runners: processes of their own that run the tasks which a node has claimed.
 *
 * <pre>
 *   node (LocalRunners)              runner (RunnerProgram)             task (own session)
 *     | starts, one folder each -------> |                                  |
 *     | &lt;--- hello (Unix socket) ------- |                                  |
 *     | ---- run, plugin, limits ------> | start, in the store              |
 *     |                                  | ---- sh, held at the gate -----> |
 *     |                                  | tells its watchdog, then: go --> | becomes the program
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
 * end and kills what the task left; the task's processes pass their gate only once the watchdog
 * knows of them.
 */
@NullMarked
package io.millrace.queues.runner;

import org.jspecify.annotations.NullMarked;
