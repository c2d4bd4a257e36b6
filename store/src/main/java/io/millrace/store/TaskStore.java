package io.millrace.store;

import io.millrace.store.Subscription.Interest;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.StoreCheck;
import io.millrace.store.kernel.StoreStarter;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A transactional store of tasks and documents. Two verbs change anything, {@link #commit} and
 * {@link #claim}; all else reads. Safe for use by any number of threads.
 *
 * <p>In a strict store every answer is on disk before it is given. Every method throws {@link
 * StoreClosedException} once the store is closed or stopped, and {@link OutcomeUnknownException} if
 * it stopped before the answer was certain; the futures fail with the same.
 *
 * <p><b>Callbacks.</b> A callback on a future of {@link #submit} ({@code thenApply}, {@code
 * whenComplete} and the like) runs on the thread that completes it, or on the caller's if it is
 * complete already. A store in this process completes its futures on its one thread, which serves
 * all callers: a callback there should be short, may call {@link #submit}, and must not wait for
 * the store. Every call of this store that waits, and {@code join} and {@code get} on a future that
 * is not complete, throws {@link IllegalStateException} on that thread; so does a wait for a {@link
 * Subscription}. Run longer callbacks elsewhere, with {@code thenApplyAsync} and an executor. A
 * store over HTTP has a virtual thread for each submitted command, on which callbacks may wait.
 */
public interface TaskStore extends AutoCloseable {
  /**
   * Hands a command to the store and returns at once.
   *
   * <p>Cancelling the future of a waiting claim withdraws it; a command that is already decided
   * cannot be withdrawn.
   *
   * @return the answer, when it may be known
   */
  CompletableFuture<Outcome> submit(Command command);

  /** Applies a transaction whole or not at all, and waits for the answer. */
  default Outcome commit(Transaction transaction) {
    return await(submit(transaction));
  }

  /** Takes ownership of waiting tasks, and waits for the answer. */
  default Outcome claim(Claim claim) {
    return await(submit(claim));
  }

  /**
   * The tasks named, in the order asked; an empty one for each that is not there.
   *
   * @throws IllegalArgumentException when a reference {@linkplain TaskRef#namesTask names no task}
   */
  Read<List<Optional<Task>>> tasks(List<TaskRef> refs);

  /** The task named, or an empty one. */
  default Read<Optional<Task>> task(TaskRef ref) {
    Read<List<Optional<Task>>> read = tasks(List.of(ref));
    return new Read<>(read.position(), read.timeMillis(), read.value().getFirst());
  }

  /** The tasks of a group, as they were together at one position. */
  Read<List<Task>> group(GroupQuery query);

  /** All groups that are not empty, by name in order of UTF-16 code units. */
  Read<List<GroupSummary>> groups();

  /** The document named, or an empty one. */
  Read<Optional<Document>> document(DocumentKey key);

  /** The documents asked for, as they were together at one position. */
  Read<List<Document>> documents(DocumentQuery query);

  /**
   * Begins a stream of commits.
   *
   * @throws PositionLostException when the position asked for cannot be served
   */
  Subscription subscribe(Interest interest);

  /** Finishes what was accepted, then releases everything. Closing twice does nothing. */
  @Override
  void close();

  /**
   * Opens a store in this process.
   *
   * @throws StoreException when the folder is in use, damaged or cannot be written; the message
   *     names it
   */
  static EmbeddedTaskStore open(StoreOptions options) {
    return StoreStarter.open(options);
  }

  /**
   * Opens a store on a journal of your own, which it closes in the end; the folder of {@code
   * options} is not used.
   *
   * @throws StoreException when the journal is damaged or cannot be written
   */
  static EmbeddedTaskStore open(StoreOptions options, Journal journal) {
    return StoreStarter.open(options, journal);
  }

  /**
   * Makes a store of a {@linkplain EmbeddedTaskStore#backup backup}, in a folder that is empty or
   * not there yet. The new store holds what the other one held, claims included, goes on as another
   * history, and gives no id that the other one gave, nor any earlier copy of it.
   *
   * <p>That rests on this machine's clock: the ids go on from a number that grows with it, by 4
   * million a second. A clock that is behind, or more than one new history in 17 minutes from one
   * restore to the next, can give an id twice. A crash of an opportunistic store begins one new
   * history, a recovery that leaves out a part of the journal two, and one more each time it is
   * itself interrupted.
   *
   * @param backup read to its end, not closed
   * @return how many commits the store holds
   * @throws StoreException when the backup is damaged, or the folder is in use, not empty or cannot
   *     be written; a folder that was empty is left without files but its lock
   */
  static long restore(Path folder, InputStream backup) {
    return StoreStarter.restore(Environment.system(), folder, backup);
  }

  /**
   * Reads every file of a store's folder and every record in them, and replays what a restart
   * would, without changing anything. It needs as much memory as the store. Of a folder that is in
   * use the last frames may show as an unfinished tail, and a file that is removed meanwhile as
   * missing.
   *
   * @throws StoreException when it is no folder or cannot be read
   */
  static StoreReport verify(Path folder) {
    return StoreCheck.verify(folder);
  }

  /**
   * Writes a backup of what can be read of a folder whose store does not start any more: the newest
   * whole snapshot and the commits after it up to the first that is damaged. Changes nothing in the
   * folder. A store that is restored from the backup goes on under a new history. It needs as much
   * memory as the store.
   *
   * @return what {@link #verify} says of the folder; {@link StoreReport#position} is the last
   *     commit in the backup
   * @throws StoreException when it is no folder, nothing of a store can be read in it, or {@code
   *     target} fails
   */
  static StoreReport salvage(Path folder, OutputStream target) {
    return StoreCheck.salvage(folder, target);
  }

  /** Waits for an answer and throws what it failed with as it is. */
  private static Outcome await(CompletableFuture<Outcome> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException failure) {
        throw failure;
      }
      throw e;
    } catch (CancellationException e) {
      throw new OutcomeUnknownException("the command was cancelled", e);
    }
  }

  /**
   * Which tasks of a group to list: those that wait, by (available time, origin); with {@code
   * owned} then the delayed and the claimed ones in the same order.
   *
   * @param group the group's name; an unknown one lists nothing
   * @param limit the most tasks to list, 0 for no limit
   * @param owned whether tasks that cannot be claimed now are listed too
   */
  record GroupQuery(String group, int limit, boolean owned) {
    /** All waiting tasks of a group. */
    public static GroupQuery waiting(String group) {
      return new GroupQuery(group, 0, false);
    }

    /** All tasks of a group. */
    public static GroupQuery all(String group) {
      return new GroupQuery(group, 0, true);
    }
  }

  /**
   * Which documents of a collection to list, by key in order of UTF-16 code units.
   *
   * @param collection the collection's name; an unknown one lists nothing
   * @param prefix what the keys begin with; empty for all
   * @param after only keys greater than this; empty for all
   * @param limit the most documents to list, 0 for no limit
   */
  record DocumentQuery(String collection, String prefix, String after, int limit) {
    /** All documents of a collection whose keys begin with {@code prefix}. */
    public static DocumentQuery prefix(String collection, String prefix) {
      return new DocumentQuery(collection, prefix, "", 0);
    }
  }

  /**
   * A group that is not empty, with how many tasks it has.
   *
   * @param name its name
   * @param waiting tasks that can be claimed
   * @param delayed tasks whose time has not come and that nobody owns
   * @param owned tasks that a client owns, through a claim or not
   * @param claimed those of the owned that are held through a claim: what claim limits count
   */
  record GroupSummary(String name, long waiting, long delayed, long owned, long claimed) {}

  /**
   * The answer to a read: what was true at one position.
   *
   * @param position when it was true
   * @param timeMillis the store time of the read
   * @param value what was read
   * @param <T> the answer
   */
  record Read<T>(Position position, long timeMillis, T value) {}
}
