package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.membership.MemberList;
import java.util.Map;
import java.util.Set;

/**
 * The cluster as the leader sees it in a turn.
 *
 * @param members the members that are not marked as dead
 * @param marked the tokens of those that are
 * @param busy how many lambdas of leaders before this one each member still runs, by token
 * @param left the generations before this one of which something is left
 * @param settled whether {@code left} can be believed: listings may be a little old
 */
public record View(
    MemberList members,
    Set<String> marked,
    Map<String, Integer> busy,
    Set<Long> left,
    boolean settled) {
  /** Copies what can be changed. */
  public View {
    marked = Set.copyOf(marked);
    busy = Map.copyOf(busy);
    left = Set.copyOf(left);
  }

  /** Nothing seen yet. */
  public static View nothing() {
    return new View(MemberList.EMPTY, Set.of(), Map.of(), Set.of(), false);
  }

  /** Whether nothing is run any more that the leader of an older generation has submitted. */
  public boolean isOver(long generation) {
    return settled && !left.contains(generation);
  }
}
