package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Held;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.lock.Tenure;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Station;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes partitions while it has workers to spare, one at a time with a pause between, and has them
 * worked on. It begins to look at a place in the list that follows from its own in the list of
 * members, so that members seldom want the same. Driven by {@link #step}; used by one thread.
 */
public final class Follower {
  private static final Logger LOG = LoggerFactory.getLogger(Follower.class);

  /** How often a member with a worker to spare looks for work, as a part of the lease. */
  private static final int LOOKS = 4;

  private static final long MOST_LOOK_MILLIS = 1000;

  /** The same where somebody waits for this very member to begin. */
  private static final int ADDRESSED_LOOKS = 20;

  /** Pauses between two partitions, as a part of the lease at most. */
  private static final int PAUSES = 40;

  private final Station station;
  private final Locks locks;
  private final Work work;
  private final Custom custom;
  private final Sightings sightings;
  private final Generation generation;
  private final List<Holding> holdings = new ArrayList<>();
  private long nextLook = Long.MIN_VALUE;
  private boolean drains;
  private boolean suspended;

  /** What a kind of work asks of those who work on it. */
  public enum Custom {
    /** Tasks are short: members end those that they have, and help out where others are slow. */
    SHORT,
    /** Tasks are long: members with more than their share stop work and give it back. */
    LONG,
    /** As long ones, and work on partitions of an older generation stops. */
    DIVIDED,
    /** Each partition is for one member, which takes all that it has workers for. */
    ADDRESSED;

    /** Whether work asks {@link Work#isFor}, and members that are marked as dead end theirs. */
    public boolean isAddressed() {
      return this == ADDRESSED;
    }

    /** Whether nobody holds more than his share, although nobody else may take it soon. */
    boolean isBalanced() {
      return this == LONG || this == DIVIDED;
    }
  }

  /**
   * A member that works on nothing yet.
   *
   * @param sightings takes note of partitions
   */
  public Follower(Station station, Locks locks, Work work, Custom custom, Sightings sightings) {
    this.station = station;
    this.locks = locks;
    this.work = work;
    this.custom = custom;
    this.sightings = sightings;
    this.generation = new Generation(station.documents());
  }

  /** How many partitions are worked on. */
  public int held() {
    return holdings.size();
  }

  /**
   * Keeps, settles and takes partitions.
   *
   * @param members the members as they were seen last
   * @return when to call again, by the monotonic clock; sooner where an attempt ends
   */
  public long step(MemberList members) {
    int before = holdings.size();
    holdings.removeIf(holding -> !holding.step());
    if (holdings.size() < before) {
      nextLook = Long.MIN_VALUE;
    }
    if (looks() && station.now() >= nextLook) {
      nextLook = station.now() + lookMillis();
      try {
        look(members);
      } catch (ClusterException e) {
        LOG.debug("Partitions cannot be looked at, and will be again", e);
      }
    }
    return Math.min(
        looks() ? nextLook : Long.MAX_VALUE,
        holdings.stream().mapToLong(Holding::nextMillis).min().orElse(Long.MAX_VALUE));
  }

  private boolean looks() {
    return !drains
        && !suspended
        && (custom.isBalanced() || holdings.size() < station.peer().workers());
  }

  private long lookMillis() {
    int looks = custom.isAddressed() ? ADDRESSED_LOOKS : LOOKS;
    return Math.min(station.terms().lease().toMillis() / looks, MOST_LOOK_MILLIS);
  }

  private void look(MemberList members) {
    List<Partition> partitions =
        Partition.of(station.documents().list(PartitionName.PREFIX), sightings);
    if (custom.isAddressed()) {
      takeOwn(partitions);
      return;
    }
    // Read after the listing: whoever made what was listed is known by now.
    long newest = generation.current();
    List<Partition> current =
        partitions.stream()
            .filter(partition -> partition.name().generation() >= newest)
            .filter(Partition::isOutstanding)
            .toList();
    if (custom == Custom.DIVIDED) {
      holdings.stream().filter(old -> old.name().generation() < newest).forEach(Holding::giveBack);
    }
    int share = Shares.of(station.peer().token(), members, current.size());
    if (custom.isBalanced()) {
      giveBackAbove(share);
    }
    List<Partition> free = free(current);
    if (holdings.size() >= share) {
      free = custom.isBalanced() ? List.of() : leftLying(free);
    }
    if (holdings.size() < station.peer().workers() && takeOne(free, members)) {
      nextLook = station.now() + station.pauseMillis(PAUSES);
    }
  }

  private void takeOwn(List<Partition> partitions) {
    List<Partition> own =
        free(partitions).stream()
            .filter(Partition::isOutstanding)
            .filter(work::isFor)
            .limit(station.peer().workers() - holdings.size())
            .toList();
    if (own.isEmpty()) {
      return;
    }
    long newest = generation.current();
    own.stream().filter(mine -> mine.name().generation() >= newest).forEach(this::take);
  }

  private void giveBackAbove(int share) {
    holdings.stream()
        .filter(holding -> !holding.isGivenBack())
        .sorted(Comparator.comparing(Holding::name))
        .skip(share)
        .forEach(Holding::giveBack);
  }

  private List<Partition> free(List<Partition> partitions) {
    Set<String> mine =
        holdings.stream().map(holding -> holding.name().key()).collect(Collectors.toSet());
    return partitions.stream()
        .filter(partition -> !mine.contains(partition.key()) && sightings.isFree(partition.key()))
        .toList();
  }

  /** What those whose share it is have not taken for long: they may be gone. */
  private List<Partition> leftLying(List<Partition> free) {
    long patience = station.terms().lease().toMillis() / 2;
    return free.stream()
        .filter(partition -> sightings.sinceMillis(partition.key()) <= station.now() - patience)
        .toList();
  }

  /** Tries for the free partitions one after the other, until one is taken. */
  private boolean takeOne(List<Partition> free, MemberList members) {
    List<Partition> order = new ArrayList<>(free);
    int position = Math.max(members.position(station.peer().token()), 0);
    int count = Math.max(members.nodes().size(), 1);
    Collections.rotate(order, -(position * free.size() / count));
    for (Partition partition : order) {
      if (take(partition)) {
        return true;
      }
    }
    return false;
  }

  private boolean take(Partition partition) {
    Optional<Held> held = locks.take(partition.document());
    held.ifPresent(taken -> begin(partition, taken));
    return held.isPresent();
  }

  private void begin(Partition partition, Held held) {
    Tenure tenure = new Tenure(held, locks, station.clock());
    holdings.add(
        new Holding(
            partition.name(), tenure, work.begin(partition.name(), partition.task(), tenure)));
  }

  /** Has all work stop and takes no more, or goes on after that. */
  public void suspend(boolean whether) {
    suspended = whether;
    if (whether) {
      holdings.forEach(Holding::giveBack);
    }
  }

  /** Has all work stop, so that its partitions can be had by others, and takes no more. */
  public void drain() {
    drains = true;
    holdings.forEach(Holding::giveBack);
  }
}
