package io.millrace.server;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.StoreException;
import io.millrace.store.StoreStatus;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A store that answers what a test tells it to, for tests of the HTTP layer alone. */
public class FakeStore implements EmbeddedTaskStore {
  public static final Position POSITION = new Position(0x5f3a, 7);
  public static final long TIME = 1_388_552_400_000L;

  /** The commands received, in order. */
  public final List<Command> commands = new ArrayList<>();

  /** The answer to the next command. */
  public volatile CompletableFuture<Outcome> answer =
      CompletableFuture.completedFuture(
          new Outcome.Done(POSITION, TIME, List.of(), List.of(), false));

  /** What every group lists. */
  public volatile List<Task> tasks = List.of();

  /** How its disk is doing. */
  public volatile DiskState disk = new DiskState(1L << 40, 64 << 20, null, false, null);

  /** What reads fail with; null for nothing. */
  public volatile @Nullable StoreException failure;

  /** Opens when any command has come. */
  public final CountDownLatch asked = new CountDownLatch(1);

  /** Opens when a waiting claim has come. */
  public final CountDownLatch waiting = new CountDownLatch(1);

  /** The first transaction that came and puts nothing. */
  public final CompletableFuture<Transaction> updated = new CompletableFuture<>();

  /** What reads fail with although they never should; null for nothing. */
  public volatile @Nullable Throwable fault;

  /** What submitting a command fails with although it never should; null for nothing. */
  public volatile @Nullable Error thrown;

  /** What waking the store fails with; null for nothing. */
  public volatile @Nullable Error wakeFault;

  public volatile boolean closed;

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    if (command instanceof Transaction start && !start.puts().isEmpty()) {
      // The server notes its job types and its graph when it starts; the requests of the tests
      // put nothing.
      List<Document> written =
          start.puts().stream().map(put -> new Document(put.key(), 1, put.body())).toList();
      return CompletableFuture.completedFuture(
          new Outcome.Done(POSITION, TIME, List.of(), written, false));
    }
    // Taken first: a test that sees the command come may set the answer to the next.
    CompletableFuture<Outcome> given = answer;
    synchronized (commands) {
      commands.add(command);
    }
    if (command instanceof Claim claim && claim.waitMillis() > 0) {
      waiting.countDown();
    }
    if (command instanceof Transaction update) {
      updated.complete(update);
    }
    asked.countDown();
    Error failing = thrown;
    if (failing != null) {
      throw failing;
    }
    return given;
  }

  @Override
  public void wake() {
    Error failing = wakeFault;
    if (failing != null) {
      throw failing;
    }
  }

  private <T> Read<T> read(T value) {
    switch (fault) {
      case null -> {}
      case RuntimeException defect -> throw defect;
      case Error defect -> throw defect;
      case Throwable defect -> throw new IllegalArgumentException(defect);
    }
    StoreException thrown = failure;
    if (thrown != null) {
      throw thrown;
    }
    return new Read<>(POSITION, TIME, value);
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    return read(
        refs.stream()
            .map(ref -> tasks.stream().filter(task -> task.id() == ref.id()).findFirst())
            .toList());
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return read(tasks.stream().filter(task -> task.group().equals(query.group())).toList());
  }

  @Override
  public Map<ReachedLimit, Long> limitsReached() {
    return Map.of();
  }

  @Override
  public Map<String, Long> oldestWaiting() {
    return Map.of();
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return read(
        tasks.stream()
            .map(Task::group)
            .distinct()
            .map(group -> new GroupSummary(group, 1, 0, 0, 0))
            .toList());
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return read(Optional.empty());
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return read(List.of());
  }

  @Override
  public Subscription subscribe(Interest interest) {
    throw new StoreException("no subscriptions here");
  }

  @Override
  public long timeAheadMillis() {
    return 0;
  }

  @Override
  public StoreStatus status() {
    throw new StoreException("no status here");
  }

  @Override
  public DiskState disk() {
    return disk;
  }

  @Override
  public CompletableFuture<Throwable> stopped() {
    return new CompletableFuture<>();
  }

  @Override
  public Position backup(OutputStream target) {
    throw new StoreException("no backups here");
  }

  @Override
  public void requestSnapshot() {}

  @Override
  public Read<String> digest() {
    return read("");
  }

  @Override
  public void close() {
    closed = true;
  }
}
