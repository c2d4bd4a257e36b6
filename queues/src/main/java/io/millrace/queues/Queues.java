package io.millrace.queues;

import io.millrace.queues.Output.OutputFile;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.work.Watch;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The queues of a store: the entry of this module. Safe for use by any number of threads; there may
 * be several for one store.
 */
public final class Queues {
  private final QueueSession session;

  private Queues(QueueSession session) {
    this.session = session;
  }

  /**
   * The queues of {@code store}, which has the default limits.
   *
   * @param clock tells the times that documents carry
   * @param random draws ids; used under a lock
   */
  public static Queues in(TaskStore store, InstantSource clock, RandomGenerator random) {
    return new Queues(new QueueSession(store, clock, random));
  }

  /**
   * The same for a store with other limits.
   *
   * @param documentBytes the most bytes that the store takes as the body of a document; the params
   *     of a task may have 8 KiB less, but at least half of it
   */
  public static Queues in(
      TaskStore store, InstantSource clock, RandomGenerator random, long documentBytes) {
    return new Queues(new QueueSession(store, clock, random, documentBytes));
  }

  /** The queues themselves. */
  public QueueRegistry queues() {
    return new QueueRegistry(session);
  }

  /** Their tasks. */
  public TaskRegistry tasks() {
    return new TaskRegistry(session);
  }

  /** Where tasks are found by queue and status. */
  public TaskIndex index() {
    return new TaskIndex(session);
  }

  /** The tasks under way. */
  public RunRegistry runs() {
    return new RunRegistry(session);
  }

  /** The execution nodes. */
  public NodeRegistry nodes() {
    return new NodeRegistry(session);
  }

  /** The stored configuration. */
  public ConfigRegistry config() {
    return new ConfigRegistry(session);
  }

  /** The output file with this id. */
  public Optional<OutputFile> file(ObjectId id) {
    return session.document(Keys.file(id)).map(OutputFile::read);
  }

  /** Begins to watch these tasks until they have ended. */
  public Watch<ObjectId, QueueTask> watch(Collection<ObjectId> tasks) {
    return Watch.begin(new TaskEnds(), tasks);
  }

  /** Begins a stream of changes of tasks, from now on. */
  public Watch.Changes<ObjectId, QueueTask> changes() {
    return Watch.documents(session.store(), Keys.TASKS, ObjectId::new, QueueTask::read);
  }

  /**
   * Begins a stream of changes of queues, tasks and nodes.
   *
   * @param kinds which of them
   * @param after the position after which to begin; null for now
   * @throws PositionLostException if the store does not keep this position any more
   */
  public QueueChanges changes(Set<QueueChanges.Kind> kinds, @Nullable Position after) {
    return QueueChanges.begin(session.store(), kinds, after);
  }

  /** Tasks that end when they have finished or are held back. */
  private final class TaskEnds implements Watch.Source<ObjectId, QueueTask> {
    @Override
    public Watch.Changes<ObjectId, QueueTask> open() {
      return changes();
    }

    @Override
    public Map<ObjectId, QueueTask> read(Collection<ObjectId> ids) {
      Map<ObjectId, QueueTask> found = new HashMap<>();
      ids.forEach(id -> tasks().find(id).ifPresent(task -> found.put(id, task)));
      return found;
    }

    @Override
    public boolean isOver(@Nullable QueueTask task) {
      return task == null || Status.isFinished(task.status()) || Status.isHeld(task.status());
    }
  }

  /** A new id, for a file. */
  public ObjectId newId() {
    return session.newId();
  }

  /** What wakes a node: bells, changes of queues and configuration, and wishes to end tasks. */
  public static Interest interest() {
    return new Interest(null, Set.of(), Set.of(Keys.QUEUES, Keys.BELLS, Keys.CONFIG, Keys.STOPS));
  }

  /** What a changed document means for a node. */
  public static Signal signal(DocumentKey key) {
    return switch (key.collection()) {
      case Keys.BELLS -> new Signal.Bell(new ObjectId(key.key()));
      case Keys.STOPS -> new Signal.Stop(new ObjectId(key.key()));
      default -> new Signal.SettingsChanged();
    };
  }

  /** News for an execution node. */
  public sealed interface Signal {
    /**
     * A queue may have something to claim.
     *
     * @param queue which
     */
    record Bell(ObjectId queue) implements Signal {}

    /**
     * Somebody wants the end of a task that is under way.
     *
     * @param task which
     */
    record Stop(ObjectId task) implements Signal {}

    /** A queue or the configuration was changed. */
    record SettingsChanged() implements Signal {}
  }

  /**
   * A stream of the changes of queues, tasks and nodes, each once and in order. For use by one
   * thread; to be closed.
   */
  public static final class QueueChanges implements AutoCloseable {
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
}
