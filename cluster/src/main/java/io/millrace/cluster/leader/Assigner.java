package io.millrace.cluster.leader;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.work.SupervisedWork;
import io.millrace.cluster.work.WindowedWork;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Assigns the work of a leader. Used by one thread, in successive generations. */
public interface Assigner {
  /** Plans the partitions to be created now, and removes others. */
  Result assign(Round round, Assignments assignments);

  /** Called repeatedly while this member does not lead. Does nothing by default. */
  default void standBy() {}

  /** The result of a round. */
  enum Result {
    /** There was nothing to do. */
    IDLE,
    /** Something was done, and more may follow soon. */
    BUSY,
    /**
     * A new generation must begin, for example because members have changed and the work must be
     * divided again.
     */
    NEW_GENERATION
  }

  /**
   * The state of the cluster in a round.
   *
   * @param guard proof that this member leads; its fence is the generation
   * @param partitions all partitions as they were listed, by name
   * @param members the members, without those that are gone
   * @param generationAgeMillis the age of the generation when the partitions were listed
   * @param nowMillis the time now, by the monotonic clock
   */
  record Round(
      Guard guard,
      List<Partition> partitions,
      MemberList members,
      long generationAgeMillis,
      long nowMillis) {
    /** The generation of the leader's partitions. */
    public long generation() {
      return guard.fence();
    }

    /** Whether a partition belongs to an earlier generation. */
    public boolean isOld(Partition partition) {
      return partition.name().generation() < generation();
    }

    /**
     * Whether the listing shows all partitions that members may have taken before the generation
     * began.
     *
     * @param listingAgeMillis how old listings may be
     */
    public boolean showsAllOld(long listingAgeMillis) {
      return generationAgeMillis >= listingAgeMillis;
    }
  }

  /**
   * Assigns tasks up to a window, and removes those that are done. The window is two tasks for each
   * worker, and grows while tasks are so short that none is waiting at the next round.
   */
  final class Windowed implements Assigner {
    /** Tasks that are assigned for each worker: the current one and the next. */
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

    private List<byte[]> next(Set<String> outstanding, int max) {
      List<byte[]> known =
          outstanding.stream().map(Base64.getDecoder()::decode).collect(Collectors.toList());
      return work.next(known, max).stream()
          .filter(task -> !outstanding.contains(Base64.getEncoder().encodeToString(task)))
          .limit(max)
          .toList();
    }
  }

  /**
   * Divides work once for the current members. If they change, a new generation begins: members
   * release the partitions of the earlier one, and when none of them is held any more, the work is
   * divided again.
   */
  final class Supervised implements Assigner {
    private final SupervisedWork work;
    private final long listingAgeMillis;
    private long dividedIn = -1;
    private MemberList dividedFor = MemberList.EMPTY;

    /** Creates an assigner whose work is not divided yet. */
    Supervised(SupervisedWork work, long listingAgeMillis) {
      this.work = work;
      this.listingAgeMillis = listingAgeMillis;
    }

    @Override
    public Result assign(Round round, Assignments assignments) {
      if (dividedIn == round.generation()) {
        return dividedFor.equals(round.members()) ? Result.IDLE : Result.NEW_GENERATION;
      }
      List<Partition> old = round.partitions().stream().filter(round::isOld).toList();
      boolean stopped =
          old.stream().allMatch(partition -> partition.isDone() || assignments.isFree(partition));
      if (!round.showsAllOld(listingAgeMillis) || !stopped || round.members().nodes().isEmpty()) {
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
