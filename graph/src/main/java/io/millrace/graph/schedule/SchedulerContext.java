package io.millrace.graph.schedule;

import io.millrace.graph.NodeId;
import io.millrace.processes.ProcessLauncher;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * The environment of a scheduler.
 *
 * @param launcher tells one boot of the machine from another
 * @param credentials variables that commands get besides their own environment
 * @param executor begins attempts, ends them and records their ends, which blocks for milliseconds;
 *     virtual threads, or in a simulation the caller's own
 * @param random draws the jitter of pauses; for the scheduler's thread alone
 */
public record SchedulerContext(
    ProcessLauncher launcher, Credentials credentials, Executor executor, RandomGenerator random) {

  /**
   * Gives a command the variables by which it may call the server, such as its URL and a token.
   * Safe for use by any number of threads.
   */
  @FunctionalInterface
  public interface Credentials {
    /** No variables. */
    Credentials NONE = (_, _) -> Map.of();

    /** The variables for an attempt at a node, from 1. */
    Map<String, String> of(NodeId id, int attempt);
  }
}
