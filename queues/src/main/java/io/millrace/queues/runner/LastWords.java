package io.millrace.queues.runner;

/** How a runner ends at once, with whatever runs in it. */
@FunctionalInterface
interface LastWords {
  /**
   * Leaves the reason to the node and ends the process.
   *
   * @param reason why
   */
  void say(String reason);
}
