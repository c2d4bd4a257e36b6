package io.millrace.cluster.partition;

import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How many partitions each member is to hold: in proportion to its workers, rounded so that they
 * add up; if two have the same claim, the earlier member gets more. Pure.
 */
final class Shares {
  private Shares() {}

  /**
   * The share of a member.
   *
   * @param partitions how many there are; more than all workers together count as so many
   * @return 0 for one that is not in the list
   */
  static int of(String token, MemberList members, int partitions) {
    int position = members.position(token);
    int workers = members.workers();
    if (position < 0) {
      return 0;
    }
    List<Peer> nodes = members.nodes();
    int parts = Math.min(partitions, workers);
    int whole = nodes.stream().mapToInt(peer -> floor(peer, parts, workers)).sum();
    boolean oneMore =
        IntStream.range(0, nodes.size())
            .boxed()
            .sorted(
                Comparator.comparingLong((Integer i) -> -rest(nodes.get(i), parts, workers))
                    .thenComparingInt(i -> i))
            .limit(parts - whole)
            .anyMatch(i -> i == position);
    return floor(nodes.get(position), parts, workers) + (oneMore ? 1 : 0);
  }

  private static int floor(Peer peer, int parts, int workers) {
    return (int) ((long) parts * peer.workers() / workers);
  }

  private static long rest(Peer peer, int parts, int workers) {
    return (long) parts * peer.workers() % workers;
  }
}
