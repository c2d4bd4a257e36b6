package io.millrace.queues;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An execution node as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param timestampMillis when it last refreshed itself, in store time: milliseconds since the
 *     epoch, the same clock for all nodes
 * @param maxthreads the most tasks that it runs at a time over all queues, from 0; null for no
 *     limit
 * @param presence the process behind the name; null when it has left
 * @param place where it stands in the store; its kernel task is named by id
 */
public record NodeRecord(
    ObjectId id,
    String name,
    long timestampMillis,
    @Nullable Integer maxthreads,
    @Nullable Presence presence,
    Place place) {
  /** A node that has not refreshed itself for so long counts as dead. */
  public static final Duration SILENCE = Duration.ofSeconds(5);

  /** What became of the process behind the name. */
  public enum State {
    /** It has refreshed itself within the last five seconds. */
    ALIVE,
    /** It has not, and has not given its name back either. */
    DEAD,
    /** It has ended and given its name back. */
    LEFT
  }

  /**
   * What became of the process behind the name.
   *
   * @param nowMillis the store time of the read that found this record
   */
  public State stateAt(long nowMillis) {
    if (presence == null) {
      return State.LEFT;
    }
    return nowMillis - timestampMillis < SILENCE.toMillis() ? State.ALIVE : State.DEAD;
  }

  /** Whether this start of the node is the one behind the name. */
  public boolean isHeldBy(String instance) {
    return presence != null && presence.instance().equals(instance);
  }
}
