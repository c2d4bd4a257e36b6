package io.millrace.store;

import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.JournalCheck;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transactional store of tasks and documents. Only {@link #commit} and {@link #claim} (and {@link
 * #submit}, for both) change it. Thread-safe.
 *
 * <p>In a strict store, an answer is given only once everything that it depends on is on disk.
 * Every method throws {@link StoreClosedException} once the store is closed or stopped, and {@link
 * OutcomeUnknownException} if it stopped before the answer was certain; futures fail with the same
 * exceptions.
 *
 * <p><b>Callbacks.</b> A callback on a future of {@link #submit} ({@code thenApply}, {@code
 * whenComplete} and the like) runs on the thread that completes it, or on the caller's thread if it
 * is already complete. A store in this process completes its futures on its only thread, which
 * serves all callers: a callback should be short, may call {@link #submit}, and must not wait for
 * the store. On that thread, every blocking call of this store, {@code join} and {@code get} on an
 * incomplete future, and waiting for a {@link Subscription} throw {@link IllegalStateException}.
 * For longer callbacks, use {@code thenApplyAsync} with an executor. A store over HTTP has a
 * virtual thread for each submitted command, on which callbacks may block.
 */
public interface TaskStore extends AutoCloseable {
  /**
   * Submits a command and returns at once.
   *
   * <p>Cancelling the future of a waiting claim withdraws the claim. A command that has been
   * decided cannot be withdrawn.
   *
   * @return completes with the answer
   */
  CompletableFuture<Outcome> submit(Command command);

  /**
   * The ids that this store gives, for programs that make ids of their own which tell the store
   * too; all ids if it is not known.
   */
  default Ids ids() {
    return Ids.ALL;
  }

  /** Executes a transaction, completely or not at all, and waits for the answer. */
  default Outcome commit(Transaction transaction) {
    return await(submit(transaction));
  }

  /** Takes ownership of waiting tasks, and waits for the answer. */
  default Outcome claim(Claim claim) {
    return await(submit(claim));
  }

  /**
   * Reads tasks, in the order of the references; empty for each that does not exist.
   *
   * @throws IllegalArgumentException if a reference {@linkplain TaskRef#namesTask names no task}
   */
  Read<List<Optional<Task>>> tasks(List<TaskRef> refs);

  /** Reads a task; empty if it does not exist. */
  default Read<Optional<Task>> task(TaskRef ref) {
    Read<List<Optional<Task>>> read = tasks(List.of(ref));
    return new Read<>(read.position(), read.timeMillis(), read.value().getFirst());
  }

  /** Reads tasks of a group, all as of one position. */
  Read<List<Task>> group(GroupQuery query);

  /** Lists all groups that are not empty, by name in order of UTF-16 code units. */
  Read<List<GroupSummary>> groups();

  /** Reads a document; empty if it does not exist. */
  Read<Optional<Document>> document(DocumentKey key);

  /** Reads documents of a collection, all as of one position. */
  Read<List<Document>> documents(DocumentQuery query);

  /**
   * Opens a stream of commits.
   *
   * @throws PositionLostException if the requested position is lost
   */
  Subscription subscribe(Interest interest);

  /** Finishes the accepted commands, then releases all resources. Closing again does nothing. */
  @Override
  void close();

  /**
   * Opens a store in this process.
   *
   * @throws StoreException if the folder is in use, damaged or cannot be written; the message names
   *     it
   */
  static EmbeddedTaskStore open(StoreOptions options) {
    return StoreStarter.open(options);
  }

  /**
   * Opens a store with a given journal, which is closed with the store; the folder of {@code
   * options} is not used. Waits for no other leader of the journal: one that is there is fenced,
   * but may answer reads from before until its lease ends.
   *
   * @throws StoreException if the journal is damaged or cannot be written
   */
  static EmbeddedTaskStore open(StoreOptions options, Journal journal) {
    return StoreStarter.open(options, journal);
  }

  /**
   * Opens a store whose journal several processes share. While another one leads it, this call
   * follows the journal in memory and waits; it takes over when that one ends, or gives no sign of
   * life for longer than its lease. The store closes the journal when it is closed; if another
   * process takes over meanwhile, the store {@linkplain EmbeddedTaskStore#stopped stops}.
   *
   * @param journals opens the journal; called again if another waiting process was faster
   * @throws io.millrace.store.journal.JournalException if the journal cannot be opened or is
   *     damaged
   */
  static EmbeddedTaskStore open(StoreOptions options, Supplier<? extends Journal> journals) {
    return standby(options, journals, null).lead();
  }

  /**
   * The same for a process that tells others how far it is while it waits.
   *
   * @param journals opens the journal; called again if another waiting process was faster
   * @param address where clients reach this process when it leads, for those that wait then; null
   *     for none
   */
  static StandbyStore standby(
      StoreOptions options, Supplier<? extends Journal> journals, @Nullable String address) {
    return StoreStarter.standby(options, journals, address);
  }

  /**
   * Creates a store from a {@linkplain EmbeddedTaskStore#backup backup}, in a folder that is empty
   * or does not exist yet. The new store has the content of the old one, including claims. It
   * continues under a new history, and never gives an id that the old store, or an earlier copy of
   * it, has given.
   *
   * <p>The last point depends on this machine's clock: ids continue from a number that increases
   * with the clock, by 4 million a second. Ids can repeat if the clock is behind, or if more than
   * one new history begins per 17 minutes between two restores. A crash of an opportunistic store
   * begins one new history; a recovery that leaves out a part of the journal begins two, and one
   * more each time it is interrupted.
   *
   * @param backup read to its end, not closed
   * @return the number of commits of the store
   * @throws StoreException if the backup is damaged, or the folder is in use, not empty or cannot
   *     be written; an empty folder is left without files except its lock
   */
  static long restore(Path folder, InputStream backup) {
    return StoreStarter.restore(Environment.system(), folder, backup);
  }

  /**
   * Checks a store where it is kept: reads everything with its checksums, and replays what a
   * restart would replay. If older commits are kept too, also replays them, and compares the result
   * with the newest snapshot. Changes nothing, also while another process leads the store. Needs up
   * to twice as much memory as the store.
   *
   * @throws StoreException if there is no journal or it cannot be read
   */
  static StoreReport verify(JournalCheck.Source source) {
    return StoreCheck.verify(source);
  }

  /** Checks a store's folder; see {@link #verify(JournalCheck.Source)}. */
  static StoreReport verify(Path folder) {
    return verify(JournalCheck.folder(folder));
  }

  /**
   * Writes a backup of a store that is not opened here, and that another process may lead: its
   * state at one position, which is the end of what was durable when it was read. Changes nothing.
   * Needs as much memory as the store.
   *
   * @return what was read; {@link StoreReport#position} is the last commit in the backup
   * @throws StoreException if there is no store, a part of it is damaged, or {@code target} fails
   */
  static StoreReport backup(JournalCheck.Source source, OutputStream target) {
    return StoreCheck.backup(source, target);
  }

  /**
   * Copies a store, which another process may lead, to another place, and reads the copy back to
   * compare its digest. The copy has the state of one position, as {@link #backup} reads it, and
   * continues as a {@linkplain #restore restored} one: under a new history, and with ids that no
   * other copy has given. Needs as much memory as the store.
   *
   * @param replace whether a store that is there is replaced
   * @return the report of the copy
   * @throws StoreException if a part of the source is damaged, if there is a store in {@code
   *     target} that must not be replaced or that another process leads, or if {@code target}
   *     cannot be written. If the copy was begun, the target is refused as incomplete until a copy
   *     to it succeeds
   */
  static StoreReport copy(JournalCheck.Source source, JournalCheck.Place target, boolean replace) {
    return StoreCheck.copy(source, target, replace, Environment.system().wallMillis());
  }

  /**
   * Writes a backup of the readable part of a store that does not start any more: the newest
   * complete snapshot and the commits after it, up to the first damaged one. Changes nothing there.
   * A store that is restored from the backup continues under a new history. Needs as much memory as
   * the store.
   *
   * @return what was read; {@link StoreReport#position} is the last commit in the backup
   * @throws StoreException if there is no journal, no part of a store can be read in it, or {@code
   *     target} fails
   */
  static StoreReport salvage(JournalCheck.Source source, OutputStream target) {
    return StoreCheck.salvage(source, target);
  }

  /** Waits for an answer, and throws its exception unwrapped. */
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
   * A query for tasks of a group, by available time and then by origin; of the waiting ones, those
   * that have a key or a priority come first.
   *
   * @param group the name of the group; the result for an unknown one is empty
   * @param limit the largest number of tasks to list, 0 for no limit
   * @param selection which tasks to list
   * @param after only tasks that come after this place; null for all
   */
  record GroupQuery(String group, int limit, Selection selection, @Nullable Place after) {
    /** A query from the first task on. */
    public GroupQuery(String group, int limit, Selection selection) {
      this(group, limit, selection, null);
    }

    /** Which tasks of a group a query lists. */
    public enum Selection {
      /** Those that can be claimed now. */
      WAITING,
      /** Those whose time has not come and that nobody owns. */
      DELAYED,
      /** The waiting ones, and then the delayed and the owned ones together. */
      ALL
    }

    /**
     * The place of a task among those of its group. It is that of the task as it was listed, so a
     * list goes on there also if the task has changed or is gone. A task that has got another place
     * since may be in two pages of a list, or in none.
     *
     * @param availableAtMillis when the task becomes available
     * @param origin the first id of the task
     * @param inLane whether the task has a key or a priority; such tasks come before the others as
     *     long as they wait
     */
    public record Place(long availableAtMillis, long origin, boolean inLane) {
      /** The place of a task. */
      public static Place of(Task task) {
        return new Place(task.availableAtMillis(), task.origin(), task.lane() != null);
      }
    }

    /** All waiting tasks of a group. */
    public static GroupQuery waiting(String group) {
      return new GroupQuery(group, 0, Selection.WAITING);
    }

    /** All delayed tasks of a group. */
    public static GroupQuery delayed(String group) {
      return new GroupQuery(group, 0, Selection.DELAYED);
    }

    /** All tasks of a group. */
    public static GroupQuery all(String group) {
      return new GroupQuery(group, 0, Selection.ALL);
    }

    /** The same with another limit. */
    public GroupQuery withLimit(int other) {
      return new GroupQuery(group, other, selection, after);
    }

    /** The same after a task that was listed. */
    public GroupQuery after(Task task) {
      return new GroupQuery(group, limit, selection, Place.of(task));
    }
  }

  /**
   * A query for documents of a collection, by key in order of UTF-16 code units.
   *
   * @param collection the name of the collection; the result for an unknown one is empty
   * @param prefix only keys that begin with this; empty for all
   * @param after only keys that come after this one in the order of the result; empty for all
   * @param limit the largest number of documents to list, 0 for no limit
   * @param order the order of the result
   */
  record DocumentQuery(String collection, String prefix, String after, int limit, Order order) {
    /** An order of documents. */
    public enum Order {
      /** The smallest key first. */
      ASCENDING,
      /** The greatest key first. */
      DESCENDING
    }

    /** A query in ascending order. */
    public DocumentQuery(String collection, String prefix, String after, int limit) {
      this(collection, prefix, after, limit, Order.ASCENDING);
    }

    /** All documents of a collection whose keys begin with {@code prefix}. */
    public static DocumentQuery prefix(String collection, String prefix) {
      return new DocumentQuery(collection, prefix, "", 0);
    }

    /** The same after another key. */
    public DocumentQuery after(String key) {
      return new DocumentQuery(collection, prefix, key, limit, order);
    }

    /** The same with another limit. */
    public DocumentQuery withLimit(int other) {
      return new DocumentQuery(collection, prefix, after, other, order);
    }
  }

  /**
   * A group that is not empty, with the numbers of its tasks.
   *
   * @param name its name
   * @param waiting the number of tasks that can be claimed
   * @param delayed the number of tasks whose time has not come and that nobody owns
   * @param owned the number of tasks that a client owns, through a claim or not
   * @param claimed the number of tasks that are held through a claim, which claim limits count
   */
  record GroupSummary(String name, long waiting, long delayed, long owned, long claimed) {}

  /**
   * The result of a read at one position.
   *
   * @param position the position
   * @param timeMillis the store time of the read
   * @param value the result
   * @param <T> the type of the result
   */
  record Read<T>(Position position, long timeMillis, T value) {}
}
