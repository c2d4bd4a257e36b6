package io.millrace.cluster.member;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.Station;
import java.util.concurrent.Callable;

/**
 * What a member offers to what it works on and leads with. Safe for use by any number of threads.
 */
public interface Seat {
  /** What the member stands on. */
  Station station();

  /** Has the member look again at what it holds: an attempt has ended. */
  void callMember();

  /** Has the leader's next turn come at once. */
  void callLeader();

  /**
   * Runs something on the calling thread as work of this member: {@link Member#current} and {@link
   * Member#guard} know it.
   *
   * @param guard proof that the work may be done
   */
  <T> T carry(Guard guard, Callable<T> work) throws Exception;
}
