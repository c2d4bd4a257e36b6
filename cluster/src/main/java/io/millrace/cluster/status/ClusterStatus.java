package io.millrace.cluster.status;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.LockForm;
import io.millrace.cluster.lock.PartitionTask;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Members;
import io.millrace.cluster.membership.Presence;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.report.Report;
import io.millrace.cluster.report.Reports;
import io.millrace.cluster.shared.NamedLock;
import io.millrace.cluster.shared.Permits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A cluster as its documents show it at one time. Whether a holder lives, documents alone do not
 * say; a leader whose lease ended by this machine's clock is none here.
 *
 * @param lead the lock of the leader, and who leads
 * @param members the members
 * @param locks all locks but those of partitions, by key
 * @param partitions the partitions, by generation and number
 * @param reports what members say about their work, by name and token
 */
public record ClusterStatus(
    Lead lead,
    MemberList members,
    List<LockView> locks,
    List<PartitionView> partitions,
    List<Report> reports) {
  /**
   * Who leads.
   *
   * @param lock the lock of the leader; null where there never was one
   * @param token the leader; null where the lock was released or the lease has ended
   */
  public record Lead(@Nullable LockView lock, @Nullable String token) {}

  /** Copies the lists. */
  public ClusterStatus {
    locks = List.copyOf(locks);
    partitions = List.copyOf(partitions);
    reports = List.copyOf(reports);
  }

  /** The lock of the leader; null where there never was one. */
  public @Nullable LockView leader() {
    return lead.lock();
  }

  /** The token of the leader; null where the lock was released or the lease has ended. */
  public @Nullable String leads() {
    return lead.token();
  }

  /**
   * Reads it.
   *
   * @param nowMillis the time of this machine, in milliseconds since 1970
   */
  public static ClusterStatus read(VersionedDocuments documents, long nowMillis) {
    List<LockView> locks = new ArrayList<>();
    Optional<VersionedDocument> leader = documents.get(Leader.KEY);
    leader.map(ClusterStatus::lock).ifPresent(locks::add);
    for (String prefix : List.of(NamedLock.PREFIX, Presence.PREFIX, Permits.PREFIX)) {
      documents.list(prefix).stream()
          .filter(document -> Permits.isNoSize(document.key()))
          .forEach(document -> locks.add(lock(document)));
    }
    LockView first = leader.map(ClusterStatus::lock).orElse(null);
    String leads = first == null || first.expireMillis() < nowMillis ? null : first.holder();
    return new ClusterStatus(
        new Lead(first, leads),
        new Members(documents).list(),
        locks,
        partitions(documents),
        new Reports(documents).all());
  }

  private static LockView lock(VersionedDocument document) {
    LockDocument lock = LockForm.read(document);
    String holder = lock.isReleased() || lock.holder().isEmpty() ? null : lock.holder();
    return new LockView(document.key(), holder, lock.expireMillis(), lock.fence());
  }

  private static List<PartitionView> partitions(VersionedDocuments documents) {
    record Named(PartitionName name, VersionedDocument document) {}
    return documents.list(PartitionName.PREFIX).stream()
        .flatMap(document ->
            PartitionName.of(document.key()).map(name -> new Named(name, document)).stream())
        .sorted(Comparator.comparing(Named::name))
        .map(named -> partition(named.document()))
        .toList();
  }

  private static PartitionView partition(VersionedDocument document) {
    LockDocument lock = LockForm.read(document);
    PartitionTask charge = lock.charge();
    return new PartitionView(
        document.key().substring(PartitionName.PREFIX.length()),
        lock.holder().isEmpty() ? null : lock.holder(),
        lock.expireMillis(),
        charge == null ? PartitionTask.State.OUTSTANDING : charge.state(),
        lock.fence());
  }
}
