package io.millrace.cluster.remote;

import io.millrace.cluster.lock.LeaseLostException;
import java.util.List;

/**
 * The members as their leader's program sees them. Good until leadership is lost. Safe for use by
 * any number of threads.
 */
public interface Crew {
  /**
   * The members with a worker to spare, each once, those with the most first: in the list of
   * members, not marked as dead, and with fewer lambdas than workers. Waits until there is one.
   *
   * @return at least one
   * @throws LeaseLostException where this member leads no more
   */
  List<CrewMember> idleMembers() throws InterruptedException;

  /**
   * What is to be done, kept in documents.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  Backlog backlog(String name);
}
