package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.AbandonedDocuments;
import io.millrace.cluster.leader.Assigner;
import io.millrace.cluster.leader.Assignments;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes documents that belong to no submission of this leader: partitions of earlier leaders that
 * no member works on, and outcomes of partitions that are gone. Used by one thread.
 */
final class OldPartitions {
  private static final Logger LOG = LoggerFactory.getLogger(OldPartitions.class);

  private final MemberContext context;
  private final AbandonedDocuments strayOutcomes;
  private final Map<String, Integer> busy = new HashMap<>();
  private final Set<Long> left = new HashSet<>();

  OldPartitions(MemberContext context) {
    this.context = context;
    this.strayOutcomes = new AbandonedDocuments(context, Outcome.PREFIX);
  }

  void begin() {
    strayOutcomes.clear();
    busy.clear();
    left.clear();
  }

  /** The number of partitions that each member still works on, by token. */
  Map<String, Integer> busy() {
    return busy;
  }

  /** The generations that still have partitions. */
  Set<Long> left() {
    return left;
  }

  /**
   * Removes old partitions and stray outcomes.
   *
   * @param submitted whether a partition belongs to a submission of this leader
   */
  void clear(Assigner.Round round, Assignments assignments, Predicate<PartitionName> submitted) {
    busy.clear();
    left.clear();
    for (Partition partition : round.partitions()) {
      if (submitted.test(partition.name())) {
        continue;
      }
      boolean over = partition.isDone() || assignments.isFree(partition);
      if (!over) {
        busy.merge(partition.lock().holder(), 1, Integer::sum);
      }
      if (!over || !remove(round, assignments, partition)) {
        left.add(partition.name().generation());
      }
    }
    Set<PartitionName> listed =
        round.partitions().stream().map(Partition::name).collect(Collectors.toSet());
    strayOutcomes.sweep(
        round.guard(),
        key ->
            Outcome.partition(key)
                .filter(name -> listed.contains(name) || submitted.test(name))
                .isPresent());
  }

  private boolean remove(Assigner.Round round, Assignments assignments, Partition partition) {
    if (!round.isOld(partition)) {
      LOG.debug("Removing {}, which belongs to no submission", partition.key());
    }
    if (!assignments.remove(round.guard(), partition)) {
      return context.documents().get(partition.key()).isEmpty();
    }
    Outcome.remove(context.documents(), partition.name());
    return true;
  }
}
