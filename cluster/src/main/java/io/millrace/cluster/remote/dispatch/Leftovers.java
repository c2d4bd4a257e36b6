package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.leader.Board;
import io.millrace.cluster.leader.Turn;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcomes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What belongs to no submission of this leader: partitions of leaders before it, which are removed
 * when nobody works on them, and outcomes of partitions that are gone. Used by one thread.
 */
final class Leftovers {
  private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);

  private final Station station;
  private final Outcomes outcomes;
  private final Map<String, Seen> strays = new HashMap<>();
  private final Map<String, Integer> busy = new HashMap<>();
  private final Set<Long> left = new HashSet<>();
  private long nextSweep = Long.MIN_VALUE;

  private record Seen(Version version, long sinceMillis) {}

  Leftovers(Station station) {
    this.station = station;
    this.outcomes = new Outcomes(station.documents());
  }

  void begin() {
    strays.clear();
    busy.clear();
    left.clear();
    nextSweep = Long.MIN_VALUE;
  }

  /** How many partitions each member still works on, by token. */
  Map<String, Integer> busy() {
    return busy;
  }

  /** The generations of which partitions are left. */
  Set<Long> left() {
    return left;
  }

  /**
   * Removes what is left over and may be removed.
   *
   * @param ours which partitions belong to submissions
   */
  void clear(Turn turn, Board board, Predicate<PartitionName> ours) {
    busy.clear();
    left.clear();
    for (Partition partition : turn.partitions()) {
      if (ours.test(partition.name())) {
        continue;
      }
      boolean over = partition.isDone() || board.isFree(partition);
      if (!over) {
        busy.merge(partition.lock().holder(), 1, Integer::sum);
      }
      if (!over || !remove(turn, board, partition)) {
        left.add(partition.name().generation());
      }
    }
    if (turn.nowMillis() >= nextSweep) {
      sweep(turn, ours);
      nextSweep = turn.nowMillis() + station.terms().lease().toMillis();
    }
  }

  private boolean remove(Turn turn, Board board, Partition partition) {
    if (!turn.isOld(partition)) {
      LOG.debug("{} belongs to no submission, and is removed", partition.key());
    }
    if (!board.remove(turn.guard(), partition)) {
      return station.documents().get(partition.key()).isEmpty();
    }
    outcomes.remove(partition.name());
    return true;
  }

  /** Removes outcomes whose partitions have not been there for long. */
  private void sweep(Turn turn, Predicate<PartitionName> ours) {
    Set<PartitionName> there =
        turn.partitions().stream().map(Partition::name).collect(Collectors.toSet());
    long patience = station.terms().lease().plus(station.terms().margin()).toMillis();
    Set<String> found = new HashSet<>();
    for (VersionedDocument document : station.documents().list(Outcomes.PREFIX)) {
      boolean needed =
          Outcomes.partition(document.key())
              .filter(name -> there.contains(name) || ours.test(name))
              .isPresent();
      if (needed) {
        continue;
      }
      found.add(document.key());
      Seen seen = strays.get(document.key());
      if (seen == null || !seen.version().equals(document.version())) {
        strays.put(document.key(), new Seen(document.version(), turn.nowMillis()));
      } else if (turn.nowMillis() - seen.sinceMillis() >= patience) {
        turn.guard().check();
        station.documents().delete(document.key(), document.version());
      }
    }
    strays.keySet().retainAll(found);
  }
}
