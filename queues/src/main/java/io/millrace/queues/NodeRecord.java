package io.millrace.queues;

import org.jspecify.annotations.Nullable;

/**
 * An execution node as it is stored.
 *
 * @param id its id
 * @param name its unique name
 * @param timestampMillis when it last refreshed itself, by its own clock, in milliseconds since the
 *     epoch
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

  /** Whether this start of the node is the one behind the name. */
  public boolean isHeldBy(String instance) {
    return presence != null && presence.instance().equals(instance);
  }
}
