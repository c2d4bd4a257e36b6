package io.millrace.cluster.leader;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ObservedLocks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that one leader creates and removes. An {@link Assigner} plans them during a
 * round, and all are created at its end. If it is not known whether a partition was created, the
 * creation is retried at the end of the next round. Created partitions are remembered, because
 * listings may be stale. Tasks of the same bytes are one task. Used by one thread.
 *
 * <pre>
 *   PLANNED ──► RESERVED ──► TRIED ──► CREATED ──► removed, or gone
 *     no fence    a fence     may exist   exists, or has existed
 * </pre>
 */
public final class Assignments {
  private static final Logger LOG = LoggerFactory.getLogger(Assignments.class);

  private final MemberContext context;
  private final VersionedDocuments documents;
  private final Locks locks;
  private final ObservedLocks observedLocks;
  private final Map<String, Assignment> assignments = new LinkedHashMap<>();
  private long generation;
  private long number;

  Assignments(MemberContext context, ObservedLocks observedLocks) {
    this.context = context;
    this.documents = context.documents();
    this.locks = context.newLocks();
    this.observedLocks = observedLocks;
  }

  /** The progress of the creation of a partition. */
  private enum State {
    PLANNED,
    RESERVED,
    TRIED,
    CREATED
  }

  private static final class Assignment {
    final String key;
    final String task;
    // A partition of an earlier generation, taken by this member and removed once the new one
    // exists.
    final Locks.@Nullable HeldLock replaces;
    State state = State.PLANNED;
    long fence;
    long createdMillis;

    Assignment(String key, String task, Locks.@Nullable HeldLock replaces) {
      this.key = key;
      this.task = task;
      this.replaces = replaces;
    }
  }

  /** Begins a generation without partitions. */
  void begin(long newGeneration) {
    generation = newGeneration;
    number = 0;
    assignments.clear();
  }

  /** Forgets partitions that another member has removed. */
  void forgetRemoved(Assigner.Round round) {
    Set<String> listed =
        round.partitions().stream().map(Partition::key).collect(Collectors.toSet());
    assignments
        .values()
        .removeIf(assignment ->
            assignment.state == State.CREATED
                && !listed.contains(assignment.key)
                && round.nowMillis() - assignment.createdMillis > context.leaseMillis()
                && documents.get(assignment.key).isEmpty());
  }

  /** The tasks that are assigned and not done, in base64. */
  Set<String> outstanding(List<Partition> partitions) {
    Set<String> tasks = new HashSet<>();
    assignments.values().forEach(assignment -> tasks.add(assignment.task));
    partitions.stream()
        .filter(Partition::isOutstanding)
        .forEach(partition -> tasks.add(partition.task().encoded()));
    return tasks;
  }

  /** Whether a partition may be taken: no member works on it. */
  public boolean isFree(Partition partition) {
    return observedLocks.isFree(partition.document());
  }

  /** Plans partitions for tasks. */
  void plan(List<byte[]> tasks) {
    tasks.forEach(task -> plan(nextName(), Base64.getEncoder().encodeToString(task)));
  }

  /**
   * Plans a partition.
   *
   * @param name one that was never used before
   * @param task in base64
   */
  public void plan(PartitionName name, String task) {
    assignments.put(name.key(), new Assignment(name.key(), task, null));
  }

  /**
   * Plans a partition for the task of an older one, so that members of this generation can take it.
   */
  void renew(Guard guard, Partition old) {
    String task = old.task().encoded();
    boolean twice =
        assignments.values().stream().anyMatch(assignment -> assignment.task.equals(task));
    guard.check();
    Optional<Locks.HeldLock> taken = locks.take(old.document());
    if (taken.isEmpty()) {
      return;
    }
    if (twice) {
      documents.delete(old.key(), taken.get().version());
    } else {
      String key = nextName().key();
      assignments.put(key, new Assignment(key, task, taken.get()));
    }
  }

  private PartitionName nextName() {
    return new PartitionName(generation, ++number);
  }

  /** Whether a partition was planned, and not removed since. */
  public boolean isKnown(PartitionName name) {
    return assignments.containsKey(name.key());
  }

  /** Whether the creation of a partition has not been attempted yet. */
  public boolean isNotTried(PartitionName name) {
    Assignment assignment = assignments.get(name.key());
    return assignment != null && assignment.state.compareTo(State.TRIED) < 0;
  }

  /** When a partition was created, by the monotonic clock; empty if it may not exist yet. */
  public OptionalLong createdMillis(PartitionName name) {
    Assignment assignment = assignments.get(name.key());
    return assignment != null && assignment.state == State.CREATED
        ? OptionalLong.of(assignment.createdMillis)
        : OptionalLong.empty();
  }

  /** Whether a member has taken a partition of this generation. */
  public boolean wasTaken(Partition partition) {
    Assignment assignment = assignments.get(partition.key());
    return assignment != null && partition.lock().fence() > assignment.fence;
  }

  /** Forgets a partition that is only planned. */
  public void forget(PartitionName name) {
    assignments.remove(name.key());
  }

  /** Removes a partition as it was listed; returns whether it was still so. */
  public boolean remove(Guard guard, Partition partition) {
    guard.check();
    boolean removed = documents.delete(partition.key(), partition.document().version());
    if (removed) {
      assignments.remove(partition.key());
    }
    return removed;
  }

  /** Creates planned partitions, and retries those that are not known to be created. */
  void createPlanned(Guard guard) {
    List<Assignment> planned =
        assignments.values().stream()
            .filter(assignment -> assignment.state == State.PLANNED)
            .toList();
    if (!planned.isEmpty()) {
      guard.check();
      long fence = locks.reserve(planned.size());
      for (Assignment assignment : planned) {
        assignment.fence = fence;
        assignment.state = State.RESERVED;
        fence += Locks.fencesPerPartition();
      }
    }
    for (Assignment assignment : assignments.values()) {
      if (assignment.state != State.CREATED) {
        guard.check();
        create(assignment);
      }
    }
  }

  private void create(Assignment assignment) {
    assignment.state = State.TRIED;
    try {
      if (!locks.createPartition(
          assignment.key, LockDocument.Task.outstanding(assignment.task), assignment.fence)) {
        LOG.debug("{} was created by an earlier attempt, and has changed since", assignment.key);
      }
    } catch (ClusterException e) {
      LOG.debug("{} may not have been created; retrying", assignment.key, e);
      return;
    }
    assignment.state = State.CREATED;
    assignment.createdMillis = context.now();
    if (assignment.replaces != null) {
      try {
        documents.delete(assignment.replaces.key(), assignment.replaces.version());
      } catch (ClusterException e) {
        LOG.debug("{} could not be removed; retrying later", assignment.replaces.key(), e);
      }
    }
  }
}
