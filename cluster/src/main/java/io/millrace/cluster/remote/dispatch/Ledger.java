package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.Board;
import io.millrace.cluster.leader.Turn;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The submissions of one leader that are not over. Used by one thread. */
final class Ledger {
  private final Station station;
  private final Deadlines deadlines;
  private final Map<PartitionName, Entry> entries = new LinkedHashMap<>();
  private long changedMillis;

  Ledger(Station station) {
    this.station = station;
    this.deadlines = new Deadlines(station.terms());
  }

  void begin() {
    entries.clear();
    changed();
  }

  void add(Submission submission) {
    entries.put(submission.name(), new Entry(submission));
    changed();
  }

  void cancel(PartitionName name) {
    Entry entry = entries.get(name);
    if (entry != null) {
      entry.cancel();
      changed();
    }
  }

  boolean contains(PartitionName name) {
    return entries.containsKey(name);
  }

  /** Whether something is likely to happen soon. */
  boolean isLively() {
    return !entries.isEmpty() && station.now() - changedMillis < station.terms().lease().toMillis();
  }

  private void changed() {
    changedMillis = station.now();
  }

  /** Offers what is new, and settles what is over. */
  void settle(Turn turn, Board board, View view) {
    Map<PartitionName, Partition> listed =
        turn.partitions().stream().collect(Collectors.toMap(Partition::name, Function.identity()));
    Settlement settlement = new Settlement(station, turn.guard(), board, deadlines);
    settlement.reserve(entries.values());
    for (Entry entry : new ArrayList<>(entries.values())) {
      boolean wasBegun = entry.isBegun();
      settlement
          .settle(entry, listed.get(entry.name()), view)
          .ifPresent(ending -> {
            entries.remove(entry.name());
            entry.submission().listener().ended(ending);
            changed();
          });
      if (entry.isBegun() && !wasBegun) {
        changed();
      }
    }
  }
}
