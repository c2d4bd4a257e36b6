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
import io.millrace.store.StoreBusyException;
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
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.FrozenTree;
import io.millrace.store.kernel.state.Listings;
import io.millrace.store.kernel.state.State;
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
    return open(options, journal, State.NODE_CAPACITY);
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

  /** Sends a message, or rejects it if there is no room. */
  private void send(Mailbox.Message message) {
    Mailbox.Receipt receipt = mailbox.push(message);
    if (receipt == Mailbox.Receipt.FULL) {
      message.reject(busy());
    }
    settle(message, receipt);
  }

  /** Sends a message and gives its answer; waits for room and for the answer. */
  private <T> T sendAndAwait(String what, Mailbox.Message message, CompletableFuture<T> answer) {
    loop.thread().refuseToWait(what);
    Mailbox.Receipt receipt = mailbox.push(message);
    while (receipt == Mailbox.Receipt.FULL) {
      CompletableFuture<Void> room = mailbox.room();
      receipt = mailbox.push(message);
      if (receipt == Mailbox.Receipt.FULL) {
        driver.signal();
        environment.await(room);
      }
    }
    settle(message, receipt);
    return await(environment, answer);
  }

  private void settle(Mailbox.Message message, Mailbox.Receipt receipt) {
    switch (receipt) {
      // Always, even after others: whoever enqueued the first may have failed before the wake-up.
      case TAKEN, FULL -> driver.signal();
      case REFUSED -> message.reject(whyClosed());
    }
  }

  private StoreBusyException busy() {
    return new StoreBusyException(
        "the store is busy: %d commands or %d bytes of them wait for it already"
            .formatted(limits.queuedCommands(), limits.queuedBytes()));
  }

  private StoreClosedException whyClosed() {
    Throwable failure = loop.failure();
    return failure == null
        ? new StoreClosedException("the store is closed")
        : new StoreClosedException("the store has stopped: " + failure.getMessage(), failure);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    Submission submission = submission(command);
    send(submission);
    return submission.answer();
  }

  @Override
  public CompletableFuture<Outcome> enqueue(Command command) {
    Submission submission = submission(command);
    switch (mailbox.push(submission)) {
      case TAKEN -> {}
      case FULL -> submission.reject(busy());
      case REFUSED -> submission.reject(whyClosed());
    }
    return submission.answer();
  }

  private Submission submission(Command command) {
    return new Submission(command, loop.thread(), this::withdraw);
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
    return command("commit", transaction);
  }

  @Override
  public Outcome claim(Claim claim) {
    return command("claim", claim);
  }

  private Outcome command(String what, Command command) {
    Submission submission = submission(command);
    return sendAndAwait(what, submission, submission.answer());
  }

  private <T> Read<T> ask(Function<StoreLoop, T> question) {
    Query<T> query = new Query<>(question);
    return sendAndAwait("a read", query, query.answer());
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    if (refs.size() > limits.operations()) {
      throw new StoreException(refs.size() + " tasks asked for, more than " + limits.operations());
    }
    refs.forEach(TaskRef::required);
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
    return ask(it -> it.state().freezeGroup(query));
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
    return new Read<>(read.position(), read.timeMillis(), Listings.documents(read.value(), query));
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return ask(it -> Subscribing.begin(it, options, journal, interest)).value().open();
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
    return new Read<>(read.position(), read.timeMillis(), read.value().digest());
  }

  @Override
  public long timeAheadMillis() {
    return loop.clock().aheadMillis();
  }

  @Override
  public void close() {
    loop.thread().refuseToWait("close");
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
