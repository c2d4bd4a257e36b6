package io.millrace.queues.registry;

import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.blobs.Tail;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.work.DocumentChanges;
import io.millrace.work.Explanation;
import io.millrace.work.Subscriber;
import io.millrace.work.Watch;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.Retention;
import io.millrace.work.policy.SharedLimits.Usage;
import io.millrace.work.trace.Span;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The queues of a store: the entry of this module. Safe for use by any number of threads; there may
 * be several for one store.
 */
public final class Queues implements QueueBackend {
  private final QueueSession session;
  private final DeclaredParams declarations;

  private Queues(QueueSession session) {
    this.session = session;
    this.declarations = new DeclaredParams(session);
  }

  /**
   * The queues of {@code store}, which has the default limits.
   *
   * @param clock gives the times in documents
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

  /** The registry of queues. */
  @Override
  public QueueRegistry queues() {
    return new QueueRegistry(session);
  }

  /** Creates their tasks. */
  @Override
  public TaskSubmission submission() {
    return new TaskSubmission(session, declarations);
  }

  /** The registry of their tasks. */
  @Override
  public TaskRegistry tasks() {
    return new TaskRegistry(session);
  }

  /** Changes many of their tasks together. */
  public TaskChanges taskChanges() {
    return new TaskChanges(session, submission());
  }

  /** Moves tasks from and to another home; {@code blobs} keeps their output. */
  public TaskTransfer transfer(BlobStore blobs) {
    return new TaskTransfer(session, blobs);
  }

  /** Reads the output of tasks, whose files are in {@code blobs}. */
  public OutputReader output(BlobStore blobs) {
    return new OutputReader(new ChunkedFiles(this, blobs));
  }

  private record ChunkedFiles(Queues queues, BlobStore blobs) implements OutputReader.Files {
    @Override
    public Optional<Tail> file(Output.Stored output) {
      String prefix = output.chunkPrefix();
      return prefix == null
          ? queues.file(output.file()).map(file -> file.content(blobs))
          : Optional.of(new ChunkedBlob(blobs, prefix, OutputFile.CHUNK_BYTES));
    }

    @Override
    public Tail soFar(QueueTask task, OutputReader.Stream stream) {
      return queues
          .runs()
          .find(task.id())
          .<Tail>map(run -> OutputFile.content(blobs, run, stream))
          .orElseGet(() -> Tail.of(""));
    }
  }

  /** Finds tasks by queue and status. */
  public TaskIndex index() {
    return new TaskIndex(session);
  }

  /**
   * Why a task has not been run yet.
   *
   * @param visible whether the caller may see the tasks of a queue; others are counted, not named
   * @param sharing finds what uses up a shared limit
   */
  public Explanation explain(QueueTask task, Predicate<ObjectId> visible, Sharing sharing) {
    return new TaskExplainer(session, visible, sharing).explain(task);
  }

  /**
   * The active tasks that count against a shared limit.
   *
   * @param visible as for {@link #explain}
   */
  public Running sharing(Usage usage, Predicate<ObjectId> visible) {
    List<Run> runs =
        session.all(Keys.RUNS).stream()
            .map(Run::read)
            .filter(run -> usage.groups().contains(Queue.waitingGroup(run.queue())))
            .toList();
    return TaskExplainer.running(runs, visible);
  }

  /** The registry of claimed and running tasks. */
  @Override
  public RunRegistry runs() {
    return new RunRegistry(session);
  }

  /** The registry of execution nodes. */
  @Override
  public NodeRegistry nodes() {
    return new NodeRegistry(session);
  }

  /** The params that plugins declare. */
  @Override
  public DeclaredParams declarations() {
    return declarations;
  }

  /** The stored configuration. */
  @Override
  public ConfigRegistry config() {
    return new ConfigRegistry(session);
  }

  /**
   * The finished tasks that leave the store, by the settings of their queues.
   *
   * @param otherwise for queues without settings
   * @param interval how often to look for them
   */
  public ArchiveSource retention(Retention otherwise, Duration interval) {
    return new TaskRetention(session, otherwise, interval);
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
   * @throws PositionLostException if the store no longer keeps this position
   */
  public DocumentChanges<Event> changes(Set<Kind> kinds, @Nullable Position after) {
    Set<String> collections =
        kinds.stream().map(kind -> kind.collection).collect(Collectors.toUnmodifiableSet());
    return new DocumentChanges<>(
        session.store().subscribe(new Interest(after, Set.of(), collections)), Event::read);
  }

  /** Tasks that are over when they have finished or are held back. */
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

  /** Begins to follow the attempts at tasks; to be closed. */
  public AttemptWatch attempts(AttemptWatch.Observer observer) {
    return AttemptWatch.start(session, observer);
  }

  /** Begins to record the spans of tasks that belong to a trace; to be closed. */
  public Subscriber spans(Consumer<Span> spans) {
    return TaskSpans.start(session, spans);
  }

  /** A new id for a file. */
  @Override
  public ObjectId newId() {
    return session.newId();
  }

  /**
   * The changes that wake a node: bells, changes of queues and configuration, and requests to end
   * tasks.
   */
  public static Interest interest() {
    return new Interest(null, Set.of(), Set.of(Keys.QUEUES, Keys.BELLS, Keys.CONFIG, Keys.STOPS));
  }

  /**
   * The meaning of a changed document for a node.
   *
   * @param document what it is now; null if it was deleted
   */
  public static Signal signal(DocumentKey key, @Nullable Document document) {
    return switch (key.collection()) {
      case Keys.BELLS ->
          new Signal.Bell(
              new ObjectId(key.key()),
              document == null ? List.of() : QueueRegistry.delays(document));
      case Keys.STOPS -> new Signal.Stop(new ObjectId(key.key()));
      default -> new Signal.SettingsChanged();
    };
  }

  /** News for an execution node. */
  public sealed interface Signal {
    /**
     * A queue may have a task to claim.
     *
     * @param queue which
     * @param delays after which it may have others
     */
    record Bell(ObjectId queue, List<Duration> delays) implements Signal {}

    /**
     * The end of a claimed or running task was requested.
     *
     * @param task which
     */
    record Stop(ObjectId task) implements Signal {}

    /** A queue or the configuration was changed. */
    record SettingsChanged() implements Signal {}
  }

  /** The kinds of changes. */
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

    /** A node was added, sent a heartbeat or was changed. */
    record OfNode(NodeRecord node) implements Event {}

    /**
     * Something was deleted, or a task was archived.
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
