package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.DiskState;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.GroupQuery;
import io.millrace.store.GroupSummary;
import io.millrace.store.Interest;
import io.millrace.store.Limits;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreStatus;
import io.millrace.store.Subscription;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** The store in this process: hands commands and questions to its loop. */
public final class EmbeddedStore implements EmbeddedTaskStore {
  private final StoreOptions options;
  private final Environment environment;
  private final Limits limits;
  private final Journal journal;
  private final Mailbox mailbox;
  private final StoreLoop loop;
  private final Driver driver;

  /** A store whose loop runs. */
  EmbeddedStore(
      StoreOptions options, Journal journal, Mailbox mailbox, StoreLoop loop, Driver driver) {
    this.options = options;
    this.environment = options.environment();
    this.limits = options.limits();
    this.journal = journal;
    this.mailbox = mailbox;
    this.loop = loop;
    this.driver = driver;
  }

  /**
   * Opens a store on files; see {@link io.millrace.store.TaskStore#open}.
   *
   * @throws StoreException when the folder is in use, damaged or cannot be written
   */
  public static EmbeddedStore open(StoreOptions options) {
    return Opening.open(options);
  }

  /**
   * Opens a store on any journal, which it closes in the end.
   *
   * @throws StoreException when the journal is damaged or cannot be written
   */
  public static EmbeddedStore open(StoreOptions options, Journal journal) {
    return open(options, journal, TreeNode.CAPACITY);
  }

  /**
   * Opens a store on any journal, with trees for a simulation: small nodes let the trees split and
   * join with a few dozen tasks, as they otherwise do with thousands.
   *
   * @param nodeCapacity the most elements of a node, at least 4; 64 without this
   * @throws IllegalArgumentException when {@code nodeCapacity} is smaller
   * @throws StoreException when the journal is damaged or cannot be written
   */
  public static EmbeddedStore open(StoreOptions options, Journal journal, int nodeCapacity) {
    return Opening.open(options, journal, nodeCapacity);
  }

  /**
   * Makes a store of a backup; see {@link io.millrace.store.TaskStore#restore}.
   *
   * @return how many commits the store holds
   */
  public static long restore(Environment environment, Path folder, InputStream backup) {
    return Backups.restore(environment, folder, backup);
  }

  /** Waits for an answer; what it failed with is thrown as it is. */
  static <T> T await(Environment environment, CompletableFuture<T> answer) {
    try {
      return environment.await(answer);
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private void send(Mailbox.Message message) {
    // Always, even after others: whoever enqueued the first may have failed before the wake-up.
    if (mailbox.push(message) == Mailbox.Receipt.REFUSED) {
      message.reject(whyClosed());
    } else {
      driver.signal();
    }
  }

  private StoreClosedException whyClosed() {
    Throwable failure = loop.failure();
    return failure == null
        ? new StoreClosedException("the store is closed")
        : new StoreClosedException("the store has stopped: " + failure.getMessage(), failure);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    Submission submission = new Submission(command, this::withdraw);
    send(submission);
    return submission.answer();
  }

  @Override
  public CompletableFuture<Outcome> enqueue(Command command) {
    Submission submission = new Submission(command, this::withdraw);
    if (mailbox.push(submission) == Mailbox.Receipt.REFUSED) {
      submission.reject(whyClosed());
    }
    return submission.answer();
  }

  @Override
  public void wake() {
    if (!mailbox.isEmpty()) {
      driver.signal();
    }
  }

  private void withdraw(Submission submission) {
    if (submission.command() instanceof Claim claim && claim.waitMillis() > 0) {
      send(new Withdrawal(submission));
    }
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return await(environment, submit(transaction));
  }

  @Override
  public Outcome claim(Claim claim) {
    return await(environment, submit(claim));
  }

  private <T> Read<T> ask(Function<StoreLoop, T> question) {
    Query<T> query = new Query<>(question);
    send(query);
    return await(environment, query.answer());
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    if (refs.size() > limits.operations()) {
      throw new StoreException(refs.size() + " tasks asked for, more than " + limits.operations());
    }
    return ask(it -> {
      List<Optional<Task>> found = new ArrayList<>(refs.size());
      for (TaskRef ref : refs) {
        found.add(Optional.ofNullable(it.state().find(ref)));
      }
      return found;
    });
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return ask(it -> {
      Group group = it.state().freezeGroup(query.group());
      return group == null ? List.of() : Listings.of(group, query);
    });
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return ask(it -> it.state().freezeSummaries());
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return ask(it -> Optional.ofNullable(it.state().document(key)));
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    Read<FrozenTree<Document>> read = ask(it -> it.state().freezeDocuments());
    return new Read<>(read.position(), read.timeMillis(), Listings.of(read.value(), query));
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return ask(it -> Subscribing.begin(it, limits, interest)).value().start(journal);
  }

  @Override
  public StoreStatus status() {
    return ask(it -> Census.take(it, options)).value();
  }

  @Override
  public DiskState disk() {
    Journal.Shortage shortage = journal.shortage();
    Throwable snapshot = loop.outlets().snapshots().failure();
    return new DiskState(
        journal.freeBytes(),
        options.upkeep().diskReserveBytes(),
        shortage == null ? null : shortage.why(),
        shortage != null && shortage.stuck(),
        snapshot == null ? null : String.valueOf(snapshot.getMessage()));
  }

  @Override
  public CompletableFuture<Throwable> stopped() {
    return loop.stopped().copy();
  }

  @Override
  public Position backup(OutputStream target) {
    return Backups.write(ask(Backups::freeze), target);
  }

  @Override
  public void requestSnapshot() {
    ask(it -> {
      it.outlets().snapshots().request();
      return true;
    });
  }

  @Override
  public Read<String> digest() {
    Read<FrozenState> read = ask(it -> it.state().freeze());
    return new Read<>(read.position(), read.timeMillis(), StateDigest.of(read.value()));
  }

  @Override
  public void close() {
    loop.close();
    driver.signal();
    driver.join();
    try {
      loop.outlets().snapshots().close(loop.state(), loop.engine().history());
    } finally {
      journal.close();
    }
  }
}
