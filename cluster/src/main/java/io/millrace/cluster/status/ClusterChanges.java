package io.millrace.cluster.status;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.membership.Presence;
import io.millrace.cluster.membership.Report;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.shared.NamedLock;
import io.millrace.cluster.shared.Permits;
import io.millrace.cluster.status.ClusterStatus.LockView;
import io.millrace.cluster.status.ClusterStatus.PartitionView;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stream of the changes of a cluster whose documents a task store holds, each once and in order.
 * The renewal of a lease is no change. For use by one thread; to be closed.
 */
public final class ClusterChanges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterChanges.class);

  private final Subscription commits;
  private final Set<Kind> kinds;

  /** What was told last of each lock and partition, without the end of its lease, by key. */
  private final Map<String, Object> told = new HashMap<>();

  private @Nullable MemberList members;

  private ClusterChanges(Subscription commits, Set<Kind> kinds) {
    this.commits = commits;
    this.kinds = kinds;
  }

  /** What can change. */
  public enum Kind {
    /** The lock of the leader. */
    LEADER,
    /** The list of members. */
    MEMBERS,
    /** A named lock, the permit of a semaphore or the own lock of a member. */
    LOCK,
    /** A partition. */
    PARTITION,
    /** A report of a member. */
    REPORT;

    /** Its name in lower case. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The kind of a document; empty if it is of none. */
    private static Optional<Kind> of(String key) {
      return Optional.ofNullable(
          switch (key.substring(0, key.indexOf('/') + 1)) {
            case NamedLock.PREFIX, Presence.PREFIX -> LOCK;
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
   * @param name the kind of what was created or changed, or {@code deleted}
   * @param json what it is now: as in {@link ClusterStatus}, of members also who has {@code joined}
   *     and {@code left}; or {@code type} and {@code id} of what was deleted
   */
  public record Event(String name, ObjectNode json) {}

  /**
   * What changed in one commit.
   *
   * @param position after which to go on
   * @param events in order; empty if there was nothing but renewals
   */
  public record Changed(Position position, List<Event> events) {}

  /**
   * Opens a stream.
   *
   * @param kinds what to tell of
   * @param after the position after which to begin; null for now. What changed before it is not
   *     known, so the first event of a lock may be its renewal, and the first one of members does
   *     not say who joined or left
   * @throws PositionLostException if the position is gone
   */
  public static ClusterChanges begin(TaskStore store, Set<Kind> kinds, @Nullable Position after) {
    Interest interest = new Interest(after, Set.of(), Set.of(StoreDocuments.COLLECTION));
    if (after != null) {
      return new ClusterChanges(store.subscribe(interest), kinds);
    }
    Read<List<Document>> now = store.documents(DocumentQuery.prefix(StoreDocuments.COLLECTION, ""));
    ClusterChanges changes =
        new ClusterChanges(store.subscribe(interest.after(now.position())), kinds);
    changes.members = MemberList.EMPTY;
    now.value().forEach(changes::put);
    return changes;
  }

  /** The position at which the stream began: all changes are after it. */
  public Position start() {
    return commits.start();
  }

  /**
   * The changes of the next commit, waiting for it.
   *
   * @param timeout how long to wait in real time
   * @return null when the time is over
   * @throws PositionLostException when the stream was read too slowly
   */
  public @Nullable Changed next(Duration timeout) throws InterruptedException {
    Commit commit = commits.next(timeout);
    if (commit == null) {
      return null;
    }
    List<Event> events = new ArrayList<>();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.DocumentPut(long _, Document document) -> put(document).ifPresent(events::add);
        case Change.DocumentDeleted(DocumentKey key, long _) ->
            deleted(key.key()).ifPresent(events::add);
        case Change.Added _, Change.Changed _, Change.Deleted _ -> {}
      }
    }
    return new Changed(commit.position(), events);
  }

  private Optional<Event> put(Document stored) {
    VersionedDocument document = StoreDocuments.versioned(stored);
    try {
      return Kind.of(document.key())
          .filter(kinds::contains)
          .flatMap(kind -> json(kind, document).map(json -> new Event(kind.text(), json)));
    } catch (ClusterException e) {
      LOG.debug("A document that cannot be read is left out", e);
      return Optional.empty();
    }
  }

  /** What a document says now; empty if nothing but a lease has changed. */
  private Optional<ObjectNode> json(Kind kind, VersionedDocument document) {
    return switch (kind) {
      case LEADER -> lock(document).map(lock -> ClusterStatus.leaderJson(lock.holder(), lock));
      case LOCK -> lock(document).map(DocumentJson::object);
      case PARTITION -> {
        PartitionView now = PartitionView.of(document);
        PartitionView seen = new PartitionView(now.id(), now.holder(), 0, now.state(), now.fence());
        yield isNews(document.key(), seen)
            ? Optional.of(DocumentJson.object(now))
            : Optional.empty();
      }
      case MEMBERS -> Optional.of(members(MemberList.read(document)));
      case REPORT -> Report.read(document).map(ClusterStatus::json);
    };
  }

  private Optional<LockView> lock(VersionedDocument document) {
    LockView now = LockView.of(document);
    LockView seen = new LockView(now.key(), now.holder(), 0, now.fence());
    return Optional.of(now).filter(_ -> isNews(document.key(), seen));
  }

  private boolean isNews(String key, Object seen) {
    return !seen.equals(told.put(key, seen));
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
    told.remove(key);
    return Kind.of(key)
        .filter(kinds::contains)
        .map(kind -> {
          boolean isLock = kind == Kind.LEADER || kind == Kind.LOCK;
          String id = isLock ? key : key.substring(key.indexOf('/') + 1);
          return new Event("deleted", DocumentJson.object().put("type", kind.text()).put("id", id));
        });
  }

  @Override
  public void close() {
    commits.close();
  }
}
