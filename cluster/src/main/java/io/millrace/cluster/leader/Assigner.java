package io.millrace.cluster.leader;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.work.SupervisedWork;
import io.millrace.cluster.work.WindowedWork;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Gives out work for a leader. Used by one thread, in successive generations. */
public interface Assigner {
  /** Plans the partitions that are to be created now, and removes others. */
  Result assign(Round round, Assignments assignments);

  /** Called often while this member does not lead; does nothing by default. */
  default void standBy() {}

  /** The result of a round. */
  enum Result {
    /** There was nothing to do. */
    IDLE,
    /** Something was done, and there may be more soon. */
    BUSY,
    /** The members have changed: the work must be divided again, in a generation of its own. */
    NEW_GENERATION
  }

  /**
   * The state of the cluster in a round.
   *
   * @param guard proof that it leads; its fence is the generation
   * @param partitions all partitions as they were listed, by name
   * @param members the members, without those that are gone
   * @param beganMillis when the generation began, by the monotonic clock
   * @param nowMillis the time now, by the monotonic clock
   */
  record Round(
      Guard guard,
      List<Partition> partitions,
      MemberList members,
      long beganMillis,
      long nowMillis) {
    /** The generation in which the leader gives out work. */
    public long generation() {
      return guard.fence();
    }

    /** Whether a partition is of an earlier leader. */
    public boolean isOld(Partition partition) {
      return partition.name().generation() < generation();
    }

    /** Whether the listing shows all older partitions; listings may be a little old. */
    public boolean isSettled(LeaseTerms terms) {
      return nowMillis - beganMillis >= terms.leaseMillis() / 2;
    }
  }

  /**
   * Gives out tasks as long as there is room, and removes those that are done. There is room for
   * two tasks for each worker, and for more while they are so short that none waits at the next
   * round.
   */
  final class Windowed implements Assigner {
    /** Tasks that are given out for each worker: the current one, and its next. */
    private static final int LEAST_WINDOW = 2;

    private static final int MAX_WINDOW = 16;

    private final WindowedWork work;
    private int window = LEAST_WINDOW;

    Windowed(WindowedWork work) {
      this.work = work;
    }

    @Override
    public Result assign(Round round, Assignments assignments) {
      boolean busy = false;
      int done = 0;
      int waiting = 0;
      for (Partition partition : round.partitions()) {
        waiting += partition.isOutstanding() && partition.lock().holder().isEmpty() ? 1 : 0;
        if (partition.isDone()) {
          done++;
          round.guard().check();
          work.completed(partition.taskBytes(), round.guard());
          assignments.remove(round.guard(), partition);
          busy = true;
        } else if (round.isOld(partition) && assignments.isFree(partition)) {
          assignments.renew(round.guard(), partition);
          busy = true;
        }
      }
      Set<String> outstanding = assignments.outstanding(round.partitions());
      int workers = round.members().workers();
      if (done >= workers && waiting < workers) {
        window = Math.min(2 * window, MAX_WINDOW);
      } else if (done == 0) {
        window = Math.max(window - 1, LEAST_WINDOW);
      }
      int room = window * workers - outstanding.size();
      if (room > 0) {
        List<byte[]> tasks = next(outstanding, room);
        assignments.plan(tasks);
        busy |= !tasks.isEmpty();
      }
      return busy ? Result.BUSY : Result.IDLE;
    }

    private List<byte[]> next(Set<String> outstanding, int most) {
      List<byte[]> known =
          outstanding.stream().map(Base64.getDecoder()::decode).collect(Collectors.toList());
      return work.next(known, most).stream()
          .filter(task -> !outstanding.contains(Base64.getEncoder().encodeToString(task)))
          .limit(most)
          .toList();
    }
  }

  /**
   * Divides work once for the current members. If they change, a new generation begins: members
   * give back the partitions of the earlier one, and when none of them is held any more, the work
   * is divided again.
   */
  final class Supervised implements Assigner {
    private final SupervisedWork work;
    private final long settleMillis;
    private long dividedIn = -1;
    private MemberList dividedFor = MemberList.EMPTY;

    /**
     * Work that is not divided yet.
     *
     * @param settleMillis how long after the beginning of a generation a listing shows all older
     *     partitions
     */
    Supervised(SupervisedWork work, long settleMillis) {
      this.work = work;
      this.settleMillis = settleMillis;
    }

    @Override
    public Result assign(Round round, Assignments assignments) {
      if (dividedIn == round.generation()) {
        return dividedFor.equals(round.members()) ? Result.IDLE : Result.NEW_GENERATION;
      }
      List<Partition> old = round.partitions().stream().filter(round::isOld).toList();
      boolean stopped =
          old.stream().allMatch(partition -> partition.isDone() || assignments.isFree(partition));
      boolean settled = round.nowMillis() - round.beganMillis() >= settleMillis;
      if (!settled || !stopped || round.members().nodes().isEmpty()) {
        return Result.BUSY;
      }
      boolean removed = true;
      for (Partition partition : old) {
        removed &= assignments.remove(round.guard(), partition);
      }
      if (removed) {
        assignments.plan(work.divide(round.members().workers()));
        dividedIn = round.generation();
        dividedFor = round.members();
      }
      return Result.BUSY;
    }
  }
}
