package io.millrace.cluster.remote;

import io.millrace.cluster.lock.LeaseLostException;
import java.util.List;

/**
 * The members of a cluster as the leader's program sees them. It is valid until leadership is lost.
 * Safe for use by any number of threads.
 */
public interface Crew {
  /**
   * The members with an idle worker, each once, those with the most idle workers first: in the list
   * of members, not marked as dead, and with fewer lambdas than workers. Waits until there is one.
   *
   * @return at least one
   * @throws LeaseLostException if this member does not lead any more
   */
  List<CrewMember> idleMembers() throws InterruptedException;

  /**
   * A backlog of items to be worked on, kept in documents.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  Backlog backlog(String name);
}
