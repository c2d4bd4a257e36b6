package io.millrace.cluster.leader;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.Held;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.PartitionTask;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions as one leader makes and removes them. It remembers what it made, since listings
 * may be old, and tries again what it does not know to be made. Tasks of the same bytes are one
 * task. Used by one thread.
 */
public final class Board {
  private static final Logger LOG = LoggerFactory.getLogger(Board.class);

  private final Station station;
  private final VersionedDocuments documents;
  private final Locks locks;
  private final Sightings sightings;
  private final Map<String, Given> given = new HashMap<>();
  private final List<Offer> open = new ArrayList<>();
  private long generation;
  private long number;

  private record Given(String task, long sinceMillis) {}

  /** A partition to be made; with the one that it replaces, taken by us to be removed after it. */
  private record Offer(String key, PartitionTask charge, long fence, @Nullable Held replaces) {}

  Board(Station station, Locks locks, Sightings sightings) {
    this.station = station;
    this.documents = station.documents();
    this.locks = locks;
    this.sightings = sightings;
  }

  /** Begins with nothing given out. */
  void begin(long newGeneration) {
    generation = newGeneration;
    number = 0;
    given.clear();
    open.clear();
  }

  /** Makes what is not known to be made, and forgets what has gone without our doing. */
  void tidy(Turn turn) {
    offerAll(turn.guard());
    Set<String> listed = turn.partitions().stream().map(Partition::key).collect(Collectors.toSet());
    long patience = station.terms().lease().toMillis();
    given
        .entrySet()
        .removeIf(entry ->
            !listed.contains(entry.getKey())
                && turn.nowMillis() - entry.getValue().sinceMillis() > patience
                && documents.get(entry.getKey()).isEmpty());
  }

  /** The tasks that are given out, in base64. */
  Set<String> outstanding(List<Partition> partitions) {
    Set<String> tasks =
        given.values().stream().map(Given::task).collect(Collectors.toCollection(HashSet::new));
    partitions.stream()
        .filter(Partition::isOutstanding)
        .forEach(partition -> tasks.add(partition.charge().task()));
    return tasks;
  }

  /** Whether nobody works on a partition, and nobody can but by taking it. */
  public boolean isFree(Partition partition) {
    return sightings.isFree(partition.key());
  }

  /** Makes partitions for tasks. */
  void create(Guard guard, List<byte[]> tasks) {
    if (tasks.isEmpty()) {
      return;
    }
    long fence = locks.reserve(tasks.size());
    for (byte[] task : tasks) {
      plan(Base64.getEncoder().encodeToString(task), fence, null);
      fence += Locks.offerStep();
    }
    offerAll(guard);
  }

  /** Makes a partition of an older generation anew in this one, so that it can be taken again. */
  void renew(Guard guard, Partition old) {
    boolean twice =
        given.values().stream().anyMatch(mine -> mine.task().equals(old.charge().task()));
    guard.check();
    Optional<Held> taken = locks.take(old.document());
    if (taken.isEmpty()) {
      return;
    }
    if (twice) {
      documents.delete(old.key(), taken.get().version());
    } else {
      plan(old.charge().task(), locks.reserve(1), taken.get());
      offerAll(guard);
    }
  }

  /** Removes a partition as it was listed; whether it was still so. */
  public boolean remove(Guard guard, Partition partition) {
    guard.check();
    boolean removed = documents.delete(partition.key(), partition.document().version());
    if (removed) {
      given.remove(partition.key());
    }
    return removed;
  }

  /** Fences for partitions that {@link #offer} is to make, by one change of documents. */
  public List<Long> reserve(int partitions) {
    long first = locks.reserve(partitions);
    return LongStream.range(0, partitions).mapToObj(i -> first + i * Locks.offerStep()).toList();
  }

  /**
   * Makes a partition of a name that its caller chose, once or never.
   *
   * @param task in base64
   * @param fence from {@link #reserve}; the same at each attempt
   * @throws UnclearOutcomeException where it may have been made, or may be yet
   */
  public void offer(Guard guard, PartitionName name, String task, long fence) {
    guard.check();
    locks.offer(name.key(), new PartitionTask(task, PartitionTask.State.OUTSTANDING), fence);
  }

  private void plan(String task, long fence, @Nullable Held replaces) {
    String key = new PartitionName(generation, ++number).key();
    PartitionTask charge = new PartitionTask(task, PartitionTask.State.OUTSTANDING);
    given.put(key, new Given(task, station.now()));
    open.add(new Offer(key, charge, fence, replaces));
  }

  private void offerAll(Guard guard) {
    open.removeIf(offer -> {
      guard.check();
      return offer(offer);
    });
  }

  private boolean offer(Offer offer) {
    try {
      if (!locks.offer(offer.key(), offer.charge(), offer.fence())) {
        LOG.debug("{} was made by an earlier attempt, and is taken already", offer.key());
      }
    } catch (ClusterException e) {
      LOG.debug("{} is not known to be made, and will be tried again", offer.key(), e);
      return false;
    }
    Held replaced = offer.replaces();
    if (replaced != null) {
      try {
        documents.delete(replaced.key(), replaced.version());
      } catch (ClusterException e) {
        LOG.debug("{} is left to be removed later", replaced.key(), e);
      }
    }
    return true;
  }
}
