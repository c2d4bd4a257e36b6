package io.millrace.cluster.leader;

import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.work.SupervisedWork;
import java.util.List;

/**
 * Divides work once for the members that there are. When they change, all of it stops, and is
 * divided and started anew: a new generation begins, members give back what belongs to the one
 * before, and as soon as nobody holds any of that the work is divided.
 */
final class SupervisedHandout implements Handout {
  private final SupervisedWork work;
  private final LeaseTerms terms;
  private long dividedIn = -1;
  private MemberList dividedFor = MemberList.EMPTY;

  SupervisedHandout(SupervisedWork work, LeaseTerms terms) {
    this.work = work;
    this.terms = terms;
  }

  @Override
  public Result take(Turn turn, Board board) {
    if (dividedIn == turn.generation()) {
      return dividedFor.equals(turn.members()) ? Result.IDLE : Result.DIVIDE_ANEW;
    }
    List<Partition> old = turn.partitions().stream().filter(turn::isOld).toList();
    // A listing may be a little old, so an older partition may show only now.
    boolean settled = turn.nowMillis() - turn.beganMillis() >= terms.lease().toMillis() / 2;
    boolean stopped =
        old.stream().allMatch(partition -> partition.isDone() || board.isFree(partition));
    if (!settled || !stopped || turn.members().nodes().isEmpty()) {
      return Result.BUSY;
    }
    boolean removed = true;
    for (Partition partition : old) {
      removed &= board.remove(turn.guard(), partition);
    }
    if (removed) {
      board.create(turn.guard(), work.divide(turn.members().workers()));
      dividedIn = turn.generation();
      dividedFor = turn.members();
    }
    return Result.BUSY;
  }
}
