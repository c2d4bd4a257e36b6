package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes partitions for idle workers, its whole share from one listing, and starts the work on them.
 * The first partition that it tries depends on its place in the list of members, so that members
 * seldom try the same one. Driven by {@link #step}; used by one thread.
 */
public final class PartitionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);

  /** How often a member with an idle worker looks for work, as a fraction of the lease. */
  private static final int LOOKS_PER_LEASE = 4;

  private static final long MAX_LOOK_MILLIS = 600;

  /** The interval of listings after work has started or ended, since more may follow at once. */
  private static final long BUSY_LOOK_MILLIS = 100;

  /** For how long it looks so often. */
  private static final long BUSY_MILLIS = 2000;

  /** The same if partitions are addressed, since the leader waits for this member. */
  private static final int ADDRESSED_LOOKS_PER_LEASE = 20;

  /** The longest pause between two partitions, as a fraction of the lease. */
  private static final int PAUSES_PER_LEASE = 40;

  private final MemberContext context;
  private final Locks locks;
  private final PartitionHandler handler;
  private final Mode mode;
  private final ObservedLocks observedLocks;
  private final List<HeldPartition> heldPartitions = new ArrayList<>();
  private long nextLook = Long.MIN_VALUE;
  private long busyUntil = Long.MIN_VALUE;
  private boolean draining;
  private boolean suspended;
  private boolean needsFreshMembers;

  /** How members share a kind of work. */
  public enum Mode {
    /** Tasks are short: members finish them, and take those of slow members. */
    SHORT,
    /** Tasks are long: members with more than their share stop some and give them back. */
    LONG,
    /** As {@link #LONG}, and work on partitions of an older generation stops. */
    DIVIDED,
    /** Each partition is for one member, which takes as many as it has workers. */
    ADDRESSED;

    /**
     * Whether {@link PartitionHandler#accepts} decides, and members that are marked as dead stop
     * their work.
     */
    public boolean isAddressed() {
      return this == ADDRESSED;
    }

    /** Whether no member holds more than its share, even if no other can take the rest soon. */
    boolean isBalanced() {
      return this == LONG || this == DIVIDED;
    }
  }

  /**
   * A runner that holds nothing.
   *
   * @param observedLocks records partitions
   */
  public PartitionRunner(
      MemberContext context,
      Locks locks,
      PartitionHandler handler,
      Mode mode,
      ObservedLocks observedLocks) {
    this.context = context;
    this.locks = locks;
    this.handler = handler;
    this.mode = mode;
    this.observedLocks = observedLocks;
  }

  /** The number of partitions being worked on. */
  public int held() {
    return heldPartitions.size();
  }

  /**
   * Whether more partitions are free than expected, so that the list of members may be outdated.
   */
  public boolean needsFreshMembers() {
    return needsFreshMembers;
  }

  /**
   * Renews, settles and takes partitions.
   *
   * @param members the members as last read
   * @return when to call again, by the monotonic clock; sooner if an attempt ends
   */
  public long step(MemberList members) {
    int before = heldPartitions.size();
    heldPartitions.removeIf(held -> !held.step());
    if (heldPartitions.size() < before) {
      nextLook = Long.MIN_VALUE;
      busyUntil = context.now() + BUSY_MILLIS;
    }
    if (looks() && context.now() >= nextLook) {
      nextLook = context.now() + lookMillis();
      try {
        look(members);
      } catch (ClusterException e) {
        LOG.debug("Partitions cannot be looked at, and will be again", e);
      }
    }
    return Math.min(
        looks() ? nextLook : Long.MAX_VALUE,
        heldPartitions.stream()
            .mapToLong(held -> held.lease.nextMillis())
            .min()
            .orElse(Long.MAX_VALUE));
  }

  private boolean looks() {
    return !draining
        && !suspended
        && (mode.isBalanced() || heldPartitions.size() < context.peer().workers());
  }

  private long lookMillis() {
    int looks = mode.isAddressed() ? ADDRESSED_LOOKS_PER_LEASE : LOOKS_PER_LEASE;
    long most = context.now() < busyUntil ? BUSY_LOOK_MILLIS : MAX_LOOK_MILLIS;
    return Math.min(context.leaseMillis() / looks, most);
  }

  private void look(MemberList members) {
    List<Partition> partitions =
        Partition.of(context.documents().list(PartitionName.PREFIX), observedLocks);
    if (mode.isAddressed()) {
      takeOwn(partitions);
      return;
    }
    if (partitions.stream().noneMatch(Partition::isOutstanding) && heldPartitions.isEmpty()) {
      return;
    }
    // Read after the listing: the generation of what was listed has begun by now.
    long newest = Generation.current(context.documents());
    List<Partition> current =
        partitions.stream()
            .filter(partition -> partition.name().generation() >= newest)
            .filter(Partition::isOutstanding)
            .toList();
    if (mode == Mode.DIVIDED) {
      heldPartitions.stream()
          .filter(old -> old.name.generation() < newest)
          .forEach(HeldPartition::stop);
    }
    int share = Shares.of(context.token(), members, current.size());
    if (mode.isBalanced()) {
      stopAbove(share);
    }
    int idle = context.peer().workers() - heldPartitions.size();
    int most = Math.min(idle, share - heldPartitions.size());
    List<Partition> free = free(current);
    needsFreshMembers = mode.isBalanced() && most <= 0 && idle > 0 && !free.isEmpty();
    if (most <= 0) {
      free = mode.isBalanced() ? List.of() : longFree(free);
      most = Math.min(idle, 1);
    }
    if (takeSome(free, most, members) > 0) {
      busyUntil = context.now() + BUSY_MILLIS;
      nextLook = context.now() + Math.min(context.pauseMillis(PAUSES_PER_LEASE), BUSY_LOOK_MILLIS);
    }
  }

  private void takeOwn(List<Partition> partitions) {
    List<Partition> own =
        free(partitions).stream()
            .filter(Partition::isOutstanding)
            .filter(handler::accepts)
            .limit(context.peer().workers() - heldPartitions.size())
            .toList();
    if (own.isEmpty()) {
      return;
    }
    long newest = Generation.current(context.documents());
    own.stream().filter(mine -> mine.name().generation() >= newest).forEach(this::take);
  }

  private void stopAbove(int share) {
    heldPartitions.stream()
        .filter(held -> !held.stopping)
        .sorted(Comparator.comparing(held -> held.name))
        .skip(share)
        .forEach(HeldPartition::stop);
  }

  private List<Partition> free(List<Partition> partitions) {
    Set<String> mine =
        heldPartitions.stream().map(held -> held.name.key()).collect(Collectors.toSet());
    return partitions.stream()
        .filter(partition ->
            !mine.contains(partition.key()) && observedLocks.isFree(partition.document()))
        .toList();
  }

  /** Partitions that have been free for long; the members that should take them may be gone. */
  private List<Partition> longFree(List<Partition> free) {
    long patience = context.leaseMillis() / 2;
    return free.stream()
        .filter(partition -> observedLocks.sinceMillis(partition.key()) <= context.now() - patience)
        .toList();
  }

  /** Tries to take free partitions one after the other; returns how many it took. */
  private int takeSome(List<Partition> free, int most, MemberList members) {
    List<Partition> order = new ArrayList<>(free);
    int position = Math.max(members.position(context.token()), 0);
    int count = Math.max(members.nodes().size(), 1);
    Collections.rotate(order, -(position * free.size() / count));
    int taken = 0;
    for (Partition partition : order) {
      if (taken < most && take(partition)) {
        taken++;
      }
    }
    return taken;
  }

  private boolean take(Partition partition) {
    Optional<Locks.HeldLock> held = locks.take(partition.document());
    held.ifPresent(taken -> begin(partition, taken));
    return held.isPresent();
  }

  private void begin(Partition partition, Locks.HeldLock held) {
    Lease lease = new Lease(held, locks);
    heldPartitions.add(
        new HeldPartition(
            partition.name(),
            lease,
            handler.start(partition.name(), partition.taskBytes(), lease)));
  }

  /** Stops all work and takes no partitions, or resumes. */
  public void suspend(boolean whether) {
    suspended = whether;
    if (whether) {
      heldPartitions.forEach(HeldPartition::stop);
    }
  }

  /** Stops all work, so that other members can take its partitions, and takes no more. */
  public void drain() {
    draining = true;
    heldPartitions.forEach(HeldPartition::stop);
  }

  /** A partition that a member holds, and its work on it. Used by one thread. */
  private static final class HeldPartition {
    private final PartitionName name;
    private final Lease lease;
    private final PartitionHandler.Attempt attempt;
    private boolean stopping;

    HeldPartition(PartitionName name, Lease lease, PartitionHandler.Attempt attempt) {
      this.name = name;
      this.lease = lease;
      this.attempt = attempt;
    }

    /** Stops the work, so that other members can take the partition. */
    void stop() {
      if (!stopping) {
        stopping = true;
        attempt.stop();
      }
    }

    /**
     * Renews the partition during the work and settles it afterwards. If the work failed, the
     * partition is left to its lease, so that it is not tried again sooner.
     *
     * @return whether a worker is still busy with it
     */
    boolean step() {
      boolean held = lease.step();
      if (attempt.state() == PartitionHandler.State.RUNNING) {
        if (!held) {
          stop();
        }
        return true;
      }
      return held && !settle();
    }

    private boolean settle() {
      try {
        if (attempt.state() == PartitionHandler.State.SUCCEEDED) {
          if (!lease.finish()) {
            LOG.info("{} was done too late: others have it", name.key());
          }
        } else if (stopping) {
          lease.release();
        } else {
          LOG.warn("Work on {} failed; it is left to its lease", name.key());
        }
        return true;
      } catch (ClusterException e) {
        LOG.debug("{} could not be settled, and will be again", name.key(), e);
        return stopping;
      }
    }
  }

  /**
   * The number of partitions for each member: in proportion to its workers, rounded so that they
   * add up; of two equal claims, the earlier member gets more. Without side effects.
   */
  static final class Shares {
    private Shares() {}

    /**
     * The share of a member.
     *
     * @param partitions the number of partitions; more than the total number of workers count as
     *     that number
     * @return the share; 0 for a member that is not in the list
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
}
