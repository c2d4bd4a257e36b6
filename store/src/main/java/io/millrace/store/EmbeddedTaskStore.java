package io.millrace.store;

import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.StoreStatus.DiskState;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A store in this process, opened by {@link TaskStore#open}. */
public interface EmbeddedTaskStore extends TaskStore {
  /**
   * {@inheritDoc}
   *
   * <p>Fails with {@link StoreBusyException} when as many commands wait for the store as may, see
   * {@link Limits#queuedCommands} and {@link Limits#queuedBytes}. The calls that wait for their
   * answer wait for room as well.
   */
  @Override
  CompletableFuture<Outcome> submit(Command command);

  /**
   * Submits a command like {@link #submit}, but does not wake the store if it is idle: the command
   * may have to wait until {@link #wake} is called. For callers with several commands at a time,
   * since waking the store costs more than handing it a command. May be called by any thread.
   */
  default CompletableFuture<Outcome> enqueue(Command command) {
    return submit(command);
  }

  /**
   * Has the store see to every command that was {@linkplain #enqueue enqueued} before. Does nothing
   * if there is none. If the store is idle, it decides and may even sync on the calling thread,
   * which saves the time of handing over, and the callbacks of answers run there. So this is for
   * event loops and the like: threads that hold no lock and are not interrupted.
   */
  default void wake() {}

  /**
   * By how much store time may be ahead of the wall clock, or behind it, without anything being
   * wrong: a minute. A store that opens with more ahead says so in the log.
   */
  Duration TIME_MARGIN = Duration.ofMinutes(1);

  /**
   * By how many milliseconds store time is ahead of the wall clock now; below 0 if it is behind.
   * Store time never goes back, so it stays ahead if the wall clock was wrong once, until the wall
   * clock has caught up and the store is opened again; it stays behind if the wall clock has been
   * set forward since the store was opened. Answers at once, on any thread.
   */
  long timeAheadMillis();

  /** How the store is doing. */
  StoreStatus status();

  /** How its disk is doing. Answers at once, even while commands wait for room on the disk. */
  DiskState disk();

  /**
   * Completes, with the cause, when the store has stopped by itself: after a failed write or sync,
   * or a fault of its own. Nothing is accepted any more, and only a new opening can tell what is on
   * disk. Never completes for a store that is closed in order. What depends on it runs on the
   * store's thread and must not block.
   */
  CompletableFuture<Throwable> stopped();

  /**
   * Writes the store's state at one position as a snapshot, from which another folder can be
   * restored, while the store works on.
   *
   * @return the position that the snapshot holds
   * @throws StoreException when {@code target} fails
   */
  Position backup(OutputStream target);

  /** Begins a snapshot now, whatever the number of commits since the last; one at a time. */
  void requestSnapshot();

  /**
   * A digest of tasks, documents, counters and remembered requests, in hexadecimal: equal for two
   * stores that hold the same. Walks everything, so it takes a while in a large store.
   */
  Read<String> digest();
}
