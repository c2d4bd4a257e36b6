package io.millrace.queues;

import io.millrace.store.DocumentKey;
import io.millrace.store.Interest;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The queues of a store: the entry of this module. Safe for use by any number of threads; there may
 * be several for one store.
 */
public final class Queues {
  private final Ledger ledger;

  private Queues(Ledger ledger) {
    this.ledger = ledger;
  }

  /**
   * The queues of {@code store}, which has the default limits.
   *
   * @param clock tells the times that documents carry
   * @param random draws ids; used under a lock
   */
  public static Queues in(TaskStore store, InstantSource clock, RandomGenerator random) {
    return new Queues(new Ledger(store, clock, random));
  }

  /**
   * The same for a store with other limits.
   *
   * @param documentBytes the most bytes that the store takes as the body of a document; the params
   *     of a task may have 8 KiB less, but at least half of it
   */
  public static Queues in(
      TaskStore store, InstantSource clock, RandomGenerator random, long documentBytes) {
    return new Queues(new Ledger(store, clock, random, documentBytes));
  }

  /** The queues themselves. */
  public QueueRegistry queues() {
    return new QueueRegistry(ledger);
  }

  /** Their tasks. */
  public TaskRegistry tasks() {
    return new TaskRegistry(ledger);
  }

  /** Where tasks are found by queue and status. */
  public TaskIndex index() {
    return new TaskIndex(ledger);
  }

  /** The tasks under way. */
  public RunRegistry runs() {
    return new RunRegistry(ledger);
  }

  /** The execution nodes. */
  public NodeRegistry nodes() {
    return new NodeRegistry(ledger);
  }

  /** The stored configuration. */
  public ConfigRegistry config() {
    return new ConfigRegistry(ledger);
  }

  /** The output file with this id. */
  public Optional<OutputFile> file(ObjectId id) {
    return ledger.document(Keys.file(id)).map(OutputFileForm::read);
  }

  /** Begins to watch these tasks until they have ended. */
  public TaskWatch watch(Collection<ObjectId> tasks) {
    return TaskWatch.begin(ledger, tasks);
  }

  /** Begins a stream of changes of tasks, from now on. */
  public TaskChanges changes() {
    return TaskChanges.begin(ledger.store());
  }

  /** A new id, for a file. */
  public ObjectId newId() {
    return ledger.newId();
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
}
