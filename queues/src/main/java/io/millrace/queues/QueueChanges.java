package io.millrace.queues;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A stream of the changes of queues, tasks and nodes, each once and in order. For use by one
 * thread; to be closed.
 */
public final class QueueChanges implements AutoCloseable {
  private final Subscription commits;

  private QueueChanges(Subscription commits) {
    this.commits = commits;
  }

  /** What can change. */
  public enum Kind {
    /** A queue. */
    QUEUE(Keys.QUEUES),
    /** A task of a queue. */
    TASK(Keys.TASKS),
    /** An execution node. */
    NODE(Keys.NODES);

    private final String collection;

    Kind(String collection) {
      this.collection = collection;
    }

    private static Kind of(DocumentKey key) {
      for (Kind kind : values()) {
        if (kind.collection.equals(key.collection())) {
          return kind;
        }
      }
      throw new IllegalArgumentException("not a document of queues: " + key);
    }
  }

  /** One change. */
  public sealed interface Event {
    /** A queue was created or changed. */
    record OfQueue(Queue queue) implements Event {}

    /** A task was created or changed. */
    record OfTask(QueueTask task) implements Event {}

    /** A node came, sent a heartbeat or was changed. */
    record OfNode(NodeRecord node) implements Event {}

    /**
     * Something was deleted, or is a task that went to the archive.
     *
     * @param id the id of a queue or task, the name of a node
     */
    record Deleted(Kind kind, String id) implements Event {}
  }

  /**
   * What changed in one commit.
   *
   * @param position after which to go on
   * @param timeMillis the store time of the commit
   * @param events in order
   */
  public record Changed(Position position, long timeMillis, List<Event> events) {}

  static QueueChanges begin(TaskStore store, Set<Kind> kinds, @Nullable Position after) {
    Set<String> collections =
        kinds.stream().map(kind -> kind.collection).collect(Collectors.toUnmodifiableSet());
    return new QueueChanges(store.subscribe(new Interest(after, Set.of(), collections)));
  }

  /** The position at which the stream began: all changes are after it. */
  public Position start() {
    return commits.start();
  }

  /**
   * The changes of the next commit that has any, waiting for it.
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
        case Change.DocumentPut(long _, Document document) -> events.add(put(document));
        case Change.DocumentDeleted(DocumentKey key, long _) ->
            events.add(new Event.Deleted(Kind.of(key), key.key()));
        case Change.Added _, Change.Changed _, Change.Deleted _ -> {}
      }
    }
    return new Changed(commit.position(), commit.timeMillis(), events);
  }

  private static Event put(Document document) {
    return switch (Kind.of(document.key())) {
      case QUEUE -> new Event.OfQueue(Queue.read(document));
      case TASK -> new Event.OfTask(QueueTask.read(document));
      case NODE -> new Event.OfNode(NodeRecord.read(document));
    };
  }

  @Override
  public void close() {
    commits.close();
  }
}
