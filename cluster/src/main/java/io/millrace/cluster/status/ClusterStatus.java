package io.millrace.cluster.status;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.shared.NamedLock;
import io.millrace.cluster.shared.Permits;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The state of a cluster according to its documents, and its JSON for scripts and HTTP. Documents
 * alone do not show whether a holder is alive. A leader whose lease has ended by this machine's
 * clock is ignored. Times are in milliseconds since 1970.
 *
 * @param timeMillis when the documents were read, by this machine's clock
 * @param members the members
 * @param locks all locks except those of partitions, by key
 * @param partitions the partitions, by generation and number
 * @param reports the reports of members, by name and token
 */
public record ClusterStatus(
    long timeMillis,
    MemberList members,
    List<LockView> locks,
    List<PartitionView> partitions,
    List<Report> reports) {
  /** Copies the lists. */
  public ClusterStatus {
    locks = List.copyOf(locks);
    partitions = List.copyOf(partitions);
    reports = List.copyOf(reports);
  }

  /**
   * Reads the state.
   *
   * @param nowMillis the time by this machine's clock, in milliseconds since 1970
   */
  public static ClusterStatus read(VersionedDocuments documents, long nowMillis) {
    Stream<VersionedDocument> locks =
        Stream.of(NamedLock.PREFIX, MemberRegistration.PREFIX, Permits.PREFIX)
            .flatMap(prefix -> documents.list(prefix).stream())
            .filter(document -> !Permits.isCount(document.key()));
    return new ClusterStatus(
        nowMillis,
        MemberList.read(documents),
        Stream.concat(documents.get(Leader.KEY).stream(), locks).map(LockView::of).toList(),
        documents.list(PartitionName.PREFIX).stream()
            .filter(document -> PartitionName.of(document.key()).isPresent())
            .sorted(Comparator.comparing(one -> PartitionName.of(one.key()).orElseThrow()))
            .map(PartitionView::of)
            .toList(),
        Report.list(documents));
  }

  /**
   * The same without locks, permits, partitions and reports whose names do not match. Leader and
   * members stay.
   */
  public ClusterStatus only(Predicate<String> names) {
    return new ClusterStatus(
        timeMillis,
        members,
        locks.stream().filter(lock -> isShown(lock.key(), names)).toList(),
        partitions.stream().filter(partition -> names.test(partition.id())).toList(),
        reports.stream().filter(report -> names.test(report.name())).toList());
  }

  /** Whether a document with this key has a name that matches, or is of the leader or a member. */
  static boolean isShown(String key, Predicate<String> names) {
    int slash = key.indexOf('/');
    return slash < 0
        || key.startsWith(MemberRegistration.PREFIX)
        || names.test(key.substring(slash + 1));
  }

  /** The lock of the leader; null if there never was one. */
  public @Nullable LockView leader() {
    return locks.stream().filter(lock -> lock.key().equals(Leader.KEY)).findFirst().orElse(null);
  }

  /** The token of the leader; null if the lock was released or the lease has ended. */
  public @Nullable String leads() {
    LockView lock = leader();
    return lock == null || lock.expireMillis() < timeMillis ? null : lock.holder();
  }

  /** The fields of {@link #leaderJson}, {@code members}, {@code partitions}, {@code status}. */
  public ObjectNode json() {
    ObjectNode json = leaderJson();
    json.set("members", membersJson());
    json.set("partitions", partitionsJson());
    json.set("status", reportsJson());
    return json;
  }

  /** {@code leader} (a token or null), {@code leaderExpires} (0 for none) and its {@code fence}. */
  public ObjectNode leaderJson() {
    return leaderJson(leads(), leader());
  }

  static ObjectNode leaderJson(@Nullable String leads, @Nullable LockView lock) {
    return DocumentJson.object()
        .put("leader", leads)
        .put("leaderExpires", lock == null ? 0 : lock.expireMillis())
        .put("fence", lock == null ? 0 : lock.fence());
  }

  /** Each with {@code token} and {@code workers}. */
  public JsonNode membersJson() {
    return DocumentJson.tree(members.nodes());
  }

  /** Each with {@code id}, {@code holder} (a token or null), {@code expire} and {@code fence}. */
  public JsonNode locksJson() {
    return DocumentJson.tree(locks);
  }

  /** Each with {@code id}, {@code holder}, {@code expire}, {@code state} and {@code fence}. */
  public JsonNode partitionsJson() {
    return DocumentJson.tree(partitions);
  }

  /**
   * Each with {@code name}, {@code token}, {@code time}, and either {@code text} or {@code values}.
   */
  public ArrayNode reportsJson() {
    ArrayNode list = DocumentJson.object().arrayNode();
    reports.forEach(report -> list.add(json(report)));
    return list;
  }

  static ObjectNode json(Report report) {
    return report.json(
        DocumentJson.object().put("name", report.name()).put("token", report.token()));
  }

  /**
   * A lock as its document shows it.
   *
   * @param key the lock's key
   * @param holder the token of its holder according to the document; null if it was released
   * @param expireMillis when the lease ends by the holder's clock; 0 if the lock was released
   * @param fence the fence of its last holder
   */
  public record LockView(
      @JsonProperty("id") String key,
      @Nullable String holder,
      @JsonProperty("expire") long expireMillis,
      long fence) {
    static LockView of(VersionedDocument document) {
      LockDocument lock = LockDocument.read(document);
      String holder = lock.isReleased() || lock.holder().isEmpty() ? null : lock.holder();
      return new LockView(document.key(), holder, lock.expireMillis(), lock.fence());
    }
  }

  /**
   * A partition as its document shows it.
   *
   * @param id its name without {@code partition/}
   * @param holder the token of the member that works on it, or that has done it; null for none
   * @param expireMillis when the lease ends by the holder's clock; 0 if no member works on it
   * @param state outstanding (in progress if it has a holder), or done and not removed by the
   *     leader yet
   * @param fence the fence of its last holder
   */
  public record PartitionView(
      String id,
      @Nullable String holder,
      @JsonProperty("expire") long expireMillis,
      LockDocument.State state,
      long fence) {
    static PartitionView of(VersionedDocument document) {
      LockDocument lock = LockDocument.read(document);
      LockDocument.Task task = lock.task();
      return new PartitionView(
          document.key().substring(PartitionName.PREFIX.length()),
          lock.holder().isEmpty() ? null : lock.holder(),
          lock.expireMillis(),
          task == null ? LockDocument.State.OUTSTANDING : task.state(),
          lock.fence());
    }
  }
}
