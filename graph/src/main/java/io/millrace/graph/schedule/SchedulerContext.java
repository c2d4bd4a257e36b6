package io.millrace.graph.schedule;

import io.millrace.processes.ProcessLauncher;
import java.util.concurrent.Executor;

/**
 * What a scheduler acts through.
 *
 * @param launcher tells one boot of the machine from another
 * @param credentials what commands are given besides their own environment
 * @param executor begins attempts, ends them and writes their ends, which blocks for milliseconds;
 *     virtual threads, or in a simulation the caller's own
 */
public record SchedulerContext(
    ProcessLauncher launcher, Credentials credentials, Executor executor) {}
