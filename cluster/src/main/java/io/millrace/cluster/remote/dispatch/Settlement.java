package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.leader.Board;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LockForm;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import io.millrace.cluster.remote.outcome.Outcomes;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out in one turn what becomes of submissions. Whether one is done or ends otherwise, the
 * removal of its partition decides, at the version that was seen: only one of both succeeds.
 */
final class Settlement {
  private static final Logger LOG = LoggerFactory.getLogger(Settlement.class);

  private final Station station;
  private final Guard guard;
  private final Board board;
  private final Deadlines deadlines;
  private final Outcomes outcomes;

  Settlement(Station station, Guard guard, Board board, Deadlines deadlines) {
    this.station = station;
    this.guard = guard;
    this.board = board;
    this.deadlines = deadlines;
    this.outcomes = new Outcomes(station.documents());
  }

  /** Sees to it that submissions can be offered. */
  void reserve(Collection<Entry> entries) {
    List<Entry> fresh = entries.stream().filter(entry -> !entry.isReserved()).toList();
    if (!fresh.isEmpty()) {
      guard.check();
      Iterator<Long> fences = board.reserve(fresh.size()).iterator();
      fresh.forEach(entry -> entry.reserved(fences.next()));
    }
  }

  /**
   * Offers a submission that is not yet, or settles it where it is over.
   *
   * @param listed its partition; null where it was not listed
   * @return how it ends; empty where it does not
   */
  Optional<Ending> settle(Entry entry, @Nullable Partition listed, View view) {
    Optional<Ending> order = deadlines.order(entry, view, station.now());
    if (!entry.isAttempted() && order.isPresent()) {
      return order;
    }
    if (!entry.isReserved() || (!entry.isOffered() && !offer(entry))) {
      return Optional.empty();
    }
    if (listed != null) {
      return decide(entry, listed, order, board.isFree(listed));
    }
    if (order.isEmpty() && !deadlines.isListed(entry, station.now())) {
      return Optional.empty();
    }
    Optional<Partition> found = find(entry.name());
    return found.isEmpty()
        ? Optional.of(order.orElseGet(() -> new Ending.TimedOut("its document is gone")))
        : decide(entry, found.get(), order, false);
  }

  /** Whether the partition was made for certain. */
  private boolean offer(Entry entry) {
    try {
      entry.attempted();
      board.offer(guard, entry.name(), entry.submission().envelope(), entry.fence());
      entry.offered(station.now());
      return true;
    } catch (ClusterException e) {
      guard.check();
      LOG.debug("{} is not known to be made, and will be tried again", entry.name().key(), e);
      return false;
    }
  }

  private Optional<Ending> decide(
      Entry entry, Partition partition, Optional<Ending> order, boolean free) {
    if (entry.see(partition)) {
      entry.submission().listener().begun();
    }
    if (partition.isDone()) {
      return Optional.of(finish(entry, partition));
    }
    Optional<Ending> why = order.or(() -> deadlines.silence(entry, free, station.now()));
    if (why.isEmpty() || remove(entry, partition)) {
      return why;
    }
    // Renewed or done since it was seen, or removed by an earlier attempt of ours.
    Optional<Partition> now = find(entry.name());
    if (now.isEmpty()) {
      return why;
    }
    if (now.get().isDone()) {
      return Optional.of(finish(entry, now.get()));
    }
    return order.isPresent() && remove(entry, now.get()) ? order : Optional.empty();
  }

  private Ending finish(Entry entry, Partition partition) {
    Outcome outcome =
        outcomes.read(entry.name(), partition.lock().fence()).orElseGet(Settlement::lost);
    try {
      remove(entry, partition);
    } catch (ClusterException e) {
      guard.check();
      LOG.debug("{} is left to be removed later", entry.name().key(), e);
    }
    return new Ending.Finished(outcome);
  }

  private static Outcome lost() {
    return new Outcome.Failed(
        new RemoteFailure(ClusterException.class.getName(), "its outcome is lost", ""));
  }

  private boolean remove(Entry entry, Partition partition) {
    if (!board.remove(guard, partition)) {
      return false;
    }
    try {
      outcomes.remove(entry.name());
    } catch (ClusterException e) {
      LOG.debug("The outcome of {} is left to be removed later", entry.name().key(), e);
    }
    return true;
  }

  private Optional<Partition> find(PartitionName name) {
    return station
        .documents()
        .get(name.key())
        .flatMap(document -> Partition.of(document, LockForm.read(document)));
  }
}
