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
 * Takes partitions for idle workers, and starts the work on them. It takes its whole share from one
 * listing. The first partition that it tries depends on its place in the list of members, so that
 * members seldom try the same one. Driven by {@link #step}; used by one thread.
 */
public final class PartitionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);

  /** The number of listings per lease by a member with an idle worker. */
  private static final int POLLS_PER_LEASE = 4;

  private static final long MAX_POLL_MILLIS = 600;

  /** The interval of listings after work has started or ended, because more may follow soon. */
  private static final long BUSY_POLL_MILLIS = 100;

  /** For how long that interval applies. */
  private static final long BUSY_MILLIS = 2000;

  /**
   * The number of listings per lease if partitions are addressed: the leader waits for this member.
   */
  private static final int ADDRESSED_POLLS_PER_LEASE = 20;

  /** The maximum pause before the next listing is a lease divided by this. */
  private static final int PAUSES_PER_LEASE = 40;

  private final MemberContext context;
  private final Locks locks;
  private final PartitionHandler handler;
  private final Mode mode;
  private final ObservedLocks observedLocks;
  private final List<HeldPartition> heldPartitions = new ArrayList<>();
  private long nextPoll = Long.MIN_VALUE;
  private long busyUntil = Long.MIN_VALUE;
  private boolean draining;
  private boolean suspended;
  private boolean needsFreshMembers;

  /** How members share a kind of work. */
  public enum Mode {
    /** Tasks are short: members finish them, and take tasks of slow members. */
    SHORT,
    /** Tasks are long: members with more than their share stop some and give them back. */
    LONG,
    /** Like {@link #LONG}; also, work on partitions of an older generation stops. */
    DIVIDED,
    /** Each partition is addressed to one member, which takes as many as it has workers. */
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
   * Creates a runner that holds nothing.
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
   * Whether more partitions are free than expected, which means that the list of members may be
   * outdated.
   */
  public boolean needsFreshMembers() {
    return needsFreshMembers;
  }

  /**
   * Renews and settles partitions, and takes free ones.
   *
   * @param members the members as last read
   * @return when to call again, by the monotonic clock; sooner if an attempt ends
   */
  public long step(MemberList members) {
    int before = heldPartitions.size();
    heldPartitions.removeIf(held -> !held.step());
    if (heldPartitions.size() < before) {
      nextPoll = Long.MIN_VALUE;
      busyUntil = context.now() + BUSY_MILLIS;
    }
    if (polls() && context.now() >= nextPoll) {
      nextPoll = context.now() + pollIntervalMillis();
      try {
        poll(members);
      } catch (ClusterException e) {
        LOG.debug("Partitions could not be listed; retrying", e);
      }
    }
    return Math.min(
        polls() ? nextPoll : Long.MAX_VALUE,
        heldPartitions.stream()
            .mapToLong(held -> held.lease.nextMillis())
            .min()
            .orElse(Long.MAX_VALUE));
  }

  private boolean polls() {
    return !draining
        && !suspended
        && (mode.isBalanced() || heldPartitions.size() < context.peer().workers());
  }

  private long pollIntervalMillis() {
    int polls = mode.isAddressed() ? ADDRESSED_POLLS_PER_LEASE : POLLS_PER_LEASE;
    long max = context.now() < busyUntil ? BUSY_POLL_MILLIS : MAX_POLL_MILLIS;
    return Math.min(context.leaseMillis() / polls, max);
  }

  private void poll(MemberList members) {
    List<Partition> partitions =
        Partition.of(context.documents().list(PartitionName.PREFIX), observedLocks);
    if (mode.isAddressed()) {
      takeOwn(partitions);
      return;
    }
    if (partitions.stream().noneMatch(Partition::isOutstanding) && heldPartitions.isEmpty()) {
      return;
    }
    // Read after the listing, so that the generations of all listed partitions have begun.
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
    int max = Math.min(idle, share - heldPartitions.size());
    List<Partition> free = free(current);
    needsFreshMembers = mode.isBalanced() && max <= 0 && idle > 0 && !free.isEmpty();
    if (max <= 0) {
      free = mode.isBalanced() ? List.of() : longFree(free);
      max = Math.min(idle, 1);
    }
    if (takeSome(free, max, members) > 0) {
      busyUntil = context.now() + BUSY_MILLIS;
      nextPoll = context.now() + Math.min(context.pauseMillis(PAUSES_PER_LEASE), BUSY_POLL_MILLIS);
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

  /**
   * Partitions that have been free for half a lease; the members that should take them may be gone.
   */
  private List<Partition> longFree(List<Partition> free) {
    long patience = context.leaseMillis() / 2;
    return free.stream()
        .filter(partition -> observedLocks.sinceMillis(partition.key()) <= context.now() - patience)
        .toList();
  }

  /** Tries to take free partitions one after the other; returns how many it took. */
  private int takeSome(List<Partition> free, int max, MemberList members) {
    List<Partition> order = new ArrayList<>(free);
    int position = Math.max(members.position(context.token()), 0);
    int count = Math.max(members.nodes().size(), 1);
    Collections.rotate(order, -(position * free.size() / count));
    int taken = 0;
    for (Partition partition : order) {
      if (taken < max && take(partition)) {
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

  /** Stops all work and takes no partitions, or resumes taking them. */
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

    /** Stops the work, so that the partition can be released to other members. */
    void stop() {
      if (!stopping) {
        stopping = true;
        attempt.stop();
      }
    }

    /**
     * Renews the partition during the work, and settles it afterwards. If the work failed, the
     * partition is held until its lease ends, so that it is not tried again sooner.
     *
     * @return whether the partition still occupies a worker
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
            LOG.info("{} was done too late: another member has it", name.key());
          }
        } else if (stopping) {
          lease.release();
        } else {
          LOG.warn("Work on {} failed; it is tried again after its lease", name.key());
        }
        return true;
      } catch (ClusterException e) {
        LOG.debug("{} could not be settled; retrying", name.key(), e);
        return stopping;
      }
    }
  }

  /**
   * The number of partitions for each member: in proportion to its workers, rounded so that they
   * add up. Of two members with equal remainders, the earlier one gets more.
   */
  static final class Shares {
    private Shares() {}

    /**
     * The share of a member.
     *
     * @param partitions the number of partitions; capped at the total number of workers
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
