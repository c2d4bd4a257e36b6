package io.millrace.store;

import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.StoreStatus.DiskState;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A store in this process, opened by {@link TaskStore#open}. */
public interface EmbeddedTaskStore extends TaskStore {
  /**
   * {@inheritDoc}
   *
   * <p>Fails with {@link StoreBusyException} if too many commands wait for the store, see {@link
   * Limits#queuedCommands} and {@link Limits#queuedBytes}. The blocking calls ({@link #commit},
   * {@link #claim} and reads) wait instead.
   */
  @Override
  CompletableFuture<Outcome> submit(Command command);

  /**
   * Submits a command as {@link #submit} does, but does not wake an idle store: the command may
   * wait until {@link #wake} is called. For callers that submit several commands at a time, because
   * waking the store costs more than enqueueing a command. Thread-safe.
   */
  default CompletableFuture<Outcome> enqueue(Command command) {
    return submit(command);
  }

  /**
   * Wakes the store for the commands that were {@linkplain #enqueue enqueued} before. Does nothing
   * if there are none. If the store is idle, it runs on the calling thread, which saves a handover:
   * it decides there, may sync the journal, and runs the callbacks of answers. So this is for
   * threads that hold no lock and are not interrupted, for example event loops.
   */
  default void wake() {}

  /**
   * The difference between store time and wall clock that is considered normal: a minute. If store
   * time is further ahead when a store is opened, a warning is logged.
   */
  Duration TIME_MARGIN = Duration.ofMinutes(1);

  /**
   * By how many milliseconds store time is ahead of the wall clock now; negative if it is behind.
   * Store time never goes back. So if the wall clock was once ahead, store time stays ahead until
   * the wall clock has caught up and the store is opened again. If the wall clock has been set
   * forward since the store was opened, store time is behind. Does not block; thread-safe.
   */
  long timeAheadMillis();

  /** The current status of the store. */
  StoreStatus status();

  /**
   * When the oldest waiting task of each group became available, in milliseconds since the epoch;
   * without groups in which no task is waiting. For metrics: takes about a microsecond for each
   * group, whatever it holds.
   */
  Map<String, Long> oldestWaiting();

  /**
   * How many claims found waiting tasks and no room for them, since the store was opened, by the
   * limit that was reached. A claim that waits is counted each time it is decided. The first 1,000
   * limits are counted; for metrics.
   */
  Map<ReachedLimit, Long> limitsReached();

  /**
   * A limit that kept a claim from taking a task.
   *
   * @param scope what the limit is about
   * @param name the shared limit, group or prefix of groups; for a limit that the claim itself has,
   *     the group
   */
  record ReachedLimit(Scope scope, String name) {
    /** What a limit is about. */
    public enum Scope {
      /** Any groups that name it. */
      SHARED,
      /** One group, or a key within it. */
      GROUP,
      /** All groups whose names begin with a prefix, or a key within them. */
      PREFIX
    }
  }

  /** The status of the disk. Does not block, even while commands wait for room on the disk. */
  DiskState disk();

  /**
   * Completes with the cause if the store has stopped by itself, after a failed write or sync or
   * because of a bug. It accepts nothing any more, and only opening it again shows what is on disk.
   * Never completes if the store is closed normally. Callbacks run on the store's thread and must
   * not block.
   */
  CompletableFuture<Throwable> stopped();

  /**
   * Writes a backup: the store's state at one position, which {@link TaskStore#restore} reads. The
   * store continues to work meanwhile.
   *
   * @return the position of the backup
   * @throws StoreException if {@code target} fails
   */
  Position backup(OutputStream target);

  /** Starts a snapshot now, unless one is being written. */
  void requestSnapshot();

  /**
   * A digest of tasks, documents, counters and remembered requests, in hexadecimal. It is equal for
   * stores with the same content. Takes a time proportional to the size of the store.
   */
  Read<String> digest();
}
