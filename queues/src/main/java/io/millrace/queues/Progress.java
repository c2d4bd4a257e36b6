package io.millrace.queues;

import org.jspecify.annotations.Nullable;

/**
 * How far a queue task is.
 *
 * @param status its status code, see {@link Status}
 * @param node the node that it runs or ran on; null while no node has claimed it
 * @param mtimeMillis when it last changed, in milliseconds since the epoch
 * @param reason why it came to this status if that needs a word; null if it does not
 * @param orphaned how often it was orphaned and queued again
 */
public record Progress(
    int status, @Nullable String node, long mtimeMillis, @Nullable String reason, int orphaned) {

  /** A task that no node has claimed. */
  static Progress waiting(int status, long nowMillis, int orphaned) {
    return new Progress(status, null, nowMillis, null, orphaned);
  }

  Progress to(int next, long nowMillis, @Nullable String why) {
    return new Progress(next, node, nowMillis, why, orphaned);
  }

  Progress on(String claimer, int next, long nowMillis) {
    return new Progress(next, claimer, nowMillis, null, orphaned);
  }
}
