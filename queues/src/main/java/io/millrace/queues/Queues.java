package io.millrace.queues;

import io.millrace.queues.Output.OutputFile;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.work.DocumentChanges;
import io.millrace.work.Watch;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
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
  public DocumentChanges<Event> changes(Set<Kind> kinds, @Nullable Position after) {
    Set<String> collections =
        kinds.stream().map(kind -> kind.collection).collect(Collectors.toUnmodifiableSet());
    return new DocumentChanges<>(
        session.store().subscribe(new Interest(after, Set.of(), collections)), Event::read);
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

  /** What can change of queues. */
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

  /** A change of a queue, a task or a node. */
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

    private static Event read(DocumentKey key, @Nullable Document document) {
      Kind kind = Kind.of(key);
      if (document == null) {
        return new Deleted(kind, key.key());
      }
      return switch (kind) {
        case QUEUE -> new OfQueue(Queue.read(document));
        case TASK -> new OfTask(QueueTask.read(document));
        case NODE -> new OfNode(NodeRecord.read(document));
      };
    }
  }
}
