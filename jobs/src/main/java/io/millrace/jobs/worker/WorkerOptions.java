package io.millrace.jobs.worker;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * Options of the worker manager.
 *
 * @param registration how long a connection may stay unregistered; default 5 s
 * @param token whether a registration token is right; has to take constant time
 * @param tracking whether what a worker has done is counted over all its connections, by its own id
 * @param stuckAfter after how long without progress or status the worker is asked about a job;
 *     default 60 s
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
