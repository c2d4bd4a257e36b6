package io.millrace.cluster.status;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.shared.NamedLock;
import io.millrace.cluster.shared.Permits;
import io.millrace.cluster.status.ClusterStatus.LockView;
import io.millrace.cluster.status.ClusterStatus.PartitionView;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import io.millrace.work.DocumentChanges;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stream of the changes of a cluster whose documents are in a task store. The renewal of a lease
 * is not reported. Not thread-safe.
 */
public final class ClusterChanges {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterChanges.class);

  private final Set<Kind> kinds;
  private final Predicate<String> names;

  /** The last reported state of each lock and partition by key, without the end of its lease. */
  private final Map<String, Object> reported = new HashMap<>();

  private @Nullable MemberList members;

  private ClusterChanges(Set<Kind> kinds, Predicate<String> names) {
    this.kinds = kinds;
    this.names = names;
  }

  /** The kinds of objects that can change. */
  public enum Kind {
    /** The lock of the leader. */
    LEADER,
    /** The list of members. */
    MEMBERS,
    /** A named lock, a permit of a semaphore, or a member's own lock. */
    LOCK,
    /** A partition. */
    PARTITION,
    /** A report of a member. */
    REPORT;

    /** Its name in lower case. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The kind of a document; empty if its changes are not reported. */
    private static Optional<Kind> of(String key) {
      return Optional.ofNullable(
          switch (key.substring(0, key.indexOf('/') + 1)) {
            case NamedLock.PREFIX, MemberRegistration.PREFIX -> LOCK;
            case Permits.PREFIX -> Permits.isCount(key) ? null : LOCK;
            case PartitionName.PREFIX -> PARTITION;
            case Report.PREFIX -> REPORT;
            default ->
                switch (key) {
                  case Leader.KEY -> LEADER;
                  case MemberList.KEY -> MEMBERS;
                  default -> null;
                };
          });
    }
  }

  /**
   * One change.
   *
   * @param name the kind of the object that was created or changed, or {@code deleted}
   * @param json the new state as in {@link ClusterStatus}, for members with those that {@code
   *     joined} and {@code left}; or {@code type} and {@code id} of the deleted object
   */
  public record Event(String name, ObjectNode json) {}

  /**
   * Opens a stream.
   *
   * @param kinds the kinds to report
   * @param names which locks, permits, partitions and reports to report, by name
   * @param after the position after which to start; null for now. With a position, earlier states
   *     are not known: the first event of a lock may be a renewal, and the first event of the
   *     members does not say who joined or left
   * @throws PositionLostException if the position is gone
   */
  public static DocumentChanges<Event> begin(
      TaskStore store, Set<Kind> kinds, Predicate<String> names, @Nullable Position after) {
    ClusterChanges changes = new ClusterChanges(kinds, names);
    Interest interest = new Interest(after, Set.of(), Set.of(StoreDocuments.COLLECTION));
    if (after == null) {
      Read<List<Document>> now =
          store.documents(DocumentQuery.prefix(StoreDocuments.COLLECTION, ""));
      changes.members = MemberList.EMPTY;
      now.value().forEach(changes::put);
      interest = interest.after(now.position());
    }
    return new DocumentChanges<>(store.subscribe(interest), changes::read);
  }

  private @Nullable Event read(DocumentKey key, @Nullable Document document) {
    if (!ClusterStatus.isShown(key.key(), names)) {
      return null;
    }
    return (document == null ? deleted(key.key()) : put(document)).orElse(null);
  }

  private Optional<Event> put(Document stored) {
    VersionedDocument document = StoreDocuments.versioned(stored);
    try {
      return Kind.of(document.key())
          .filter(kinds::contains)
          .flatMap(kind -> json(kind, document).map(json -> new Event(kind.text(), json)));
    } catch (ClusterException e) {
      LOG.debug("A damaged document is left out", e);
      return Optional.empty();
    }
  }

  /** The new state of a document; empty if only its lease has changed. */
  private Optional<ObjectNode> json(Kind kind, VersionedDocument document) {
    return switch (kind) {
      case LEADER -> lock(document).map(lock -> ClusterStatus.leaderJson(lock.holder(), lock));
      case LOCK -> lock(document).map(DocumentJson::object);
      case PARTITION -> {
        PartitionView now = PartitionView.of(document);
        PartitionView withoutExpiry =
            new PartitionView(now.id(), now.holder(), 0, now.state(), now.fence());
        yield isChange(document.key(), withoutExpiry)
            ? Optional.of(DocumentJson.object(now))
            : Optional.empty();
      }
      case MEMBERS -> Optional.of(members(MemberList.read(document)));
      case REPORT -> Report.read(document).map(ClusterStatus::json);
    };
  }

  private Optional<LockView> lock(VersionedDocument document) {
    LockView now = LockView.of(document);
    LockView withoutExpiry = new LockView(now.key(), now.holder(), 0, now.fence());
    return Optional.of(now).filter(_ -> isChange(document.key(), withoutExpiry));
  }

  private boolean isChange(String key, Object withoutExpiry) {
    return !withoutExpiry.equals(reported.put(key, withoutExpiry));
  }

  private ObjectNode members(MemberList now) {
    ObjectNode json = DocumentJson.object();
    json.set("members", DocumentJson.tree(now.nodes()));
    MemberList before = members;
    members = now;
    if (before != null) {
      json.set("joined", DocumentJson.tree(tokens(now, before)));
      json.set("left", DocumentJson.tree(tokens(before, now)));
    }
    return json;
  }

  private static List<String> tokens(MemberList members, MemberList others) {
    return members.nodes().stream()
        .map(Peer::token)
        .filter(token -> others.find(token).isEmpty())
        .toList();
  }

  private Optional<Event> deleted(String key) {
    reported.remove(key);
    return Kind.of(key)
        .filter(kinds::contains)
        .map(kind -> {
          boolean isLock = kind == Kind.LEADER || kind == Kind.LOCK;
          String id = isLock ? key : key.substring(key.indexOf('/') + 1);
          return new Event("deleted", DocumentJson.object().put("type", kind.text()).put("id", id));
        });
  }
}
