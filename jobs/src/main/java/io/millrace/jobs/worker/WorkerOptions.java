package io.millrace.jobs.worker;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * How workers are treated.
 *
 * @param registration how long a connection may stay unregistered; default 5 s
 * @param token whether a registration token is right; constant time is the caller's duty
 * @param tracking whether statistics are kept by the worker's own id over its connections
 * @param stuckAfter after how long without progress or status a job is asked about; default 60 s
 * @param keepalive how often a connection is pinged; default 20 s. One that shows no sign of life
 *     for three times as long is closed, unless its worker has a job: then {@code stuckAfter}
 *     decides
 */
public record WorkerOptions(
    Duration registration,
    Predicate<String> token,
    boolean tracking,
    Duration stuckAfter,
    Duration keepalive) {}
