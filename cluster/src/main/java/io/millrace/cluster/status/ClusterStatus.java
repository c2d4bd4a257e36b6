package io.millrace.cluster.status;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.LockDocument;
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
 * A cluster as its documents show it at one time. Documents alone do not tell whether a holder
 * lives; here a leader whose lease ended by this machine's clock does not count.
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
   * @param lock the lock of the leader; null if there never was one
   * @param token the leader; null if the lock was released or the lease has ended
   */
  public record Lead(@Nullable LockView lock, @Nullable String token) {}

  /** Copies the lists. */
  public ClusterStatus {
    locks = List.copyOf(locks);
    partitions = List.copyOf(partitions);
    reports = List.copyOf(reports);
  }

  /** The lock of the leader; null if there never was one. */
  public @Nullable LockView leader() {
    return lead.lock();
  }

  /** The token of the leader; null if the lock was released or the lease has ended. */
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
          .filter(document -> !Permits.isCount(document.key()))
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
    LockDocument lock = LockDocument.read(document);
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
    LockDocument lock = LockDocument.read(document);
    LockDocument.Task charge = lock.task();
    return new PartitionView(
        document.key().substring(PartitionName.PREFIX.length()),
        lock.holder().isEmpty() ? null : lock.holder(),
        lock.expireMillis(),
        charge == null ? LockDocument.State.OUTSTANDING : charge.state(),
        lock.fence());
  }

  /**
   * A lock as its document shows it.
   *
   * @param key the lock's key
   * @param holder the token of its holder, by its document; null if it was released
   * @param expireMillis when the lease ends by the holder's clock, in milliseconds since 1970; 0 if
   *     it was released
   * @param fence the fence of its last holder
   */
  public record LockView(String key, @Nullable String holder, long expireMillis, long fence) {}

  /**
   * A partition as its document shows it.
   *
   * @param id its name without {@code partition/}
   * @param holder the token of the member that works on it, or did it if it is done; null for
   *     nobody
   * @param expireMillis when the lease ends by the holder's clock, in milliseconds since 1970; 0 if
   *     no member works on it
   * @param state outstanding, which with a holder means in progress, or done: then the leader has
   *     not removed it yet
   * @param fence the fence of its last holder
   */
  public record PartitionView(
      String id,
      @Nullable String holder,
      long expireMillis,
      LockDocument.State state,
      long fence) {}
}
