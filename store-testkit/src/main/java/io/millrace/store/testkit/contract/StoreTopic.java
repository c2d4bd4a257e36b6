package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The base of all topics: a new store for each test, and short methods to use it. */
@Timeout(60)
abstract class StoreTopic {
  /** Two clients. */
  protected static final Owner ALICE = Owner.client(1), BOB = Owner.client(2);

  /** A lease long enough for any step of a test. */
  protected static final Duration LEASE = Duration.ofMinutes(1);

  private static final long ANSWER_SECONDS = 30;

  /** Each topic is nested in a {@link TaskStoreContract}, which creates the fixture. */
  @RegisterExtension
  final BeforeEachCallback opening =
      context ->
          fixture =
              context
                  .getRequiredTestInstances()
                  .findInstance(TaskStoreContract.class)
                  .orElseThrow()
                  .newFixture();

  private StoreFixture fixture = NotOpened.FIXTURE;

  @AfterEach
  void close() {
    fixture.close();
  }

  /** The fixture of this test. */
  final StoreFixture fixture() {
    return fixture;
  }

  /** The open store. */
  protected TaskStore store() {
    return fixture.store();
  }

  /** How many subscriptions a test may open. */
  protected int freeSubscriptions() {
    return fixture.limits().subscribers() - fixture.ownSubscriptions();
  }

  /** The limits of the store. */
  protected Limits limits() {
    return fixture.limits();
  }

  /** Advances store time, or skips the test if that is impossible. */
  protected void advance(Duration time) {
    assumeTrue(fixture.movesTime(), "the store time of this back end cannot be moved");
    fixture.advance(time);
    now(); // an answer after the advance: everything that was due has been done
  }

  /** Restarts the store, or skips the test if that is impossible. */
  protected void restart() {
    assumeTrue(fixture.restarts(), "this back end cannot be restarted");
    fixture.restart();
  }

  /** The store time. */
  protected long now() {
    return store().groups().timeMillis();
  }

  /** Adds a task that is available at once. */
  protected Task add(String group, String data) {
    return commit(Transaction.by(ALICE).add(group, data)).tasks().getFirst();
  }

  /** Adds a task. */
  protected Task add(String group, String data, When when, boolean owned) {
    return commit(
            Transaction.by(ALICE)
                .add(new Transaction.Add(group, Bytes.of(data), when, owned, null)))
        .tasks()
        .getFirst();
  }

  /** Commits a transaction that must succeed. */
  protected Outcome.Done commit(Transaction.Builder transaction) {
    return store().commit(transaction.build()).done();
  }

  /** Commits a transaction that must be refused. */
  protected Outcome.Refused refused(Transaction.Builder transaction) {
    return refused(store().commit(transaction.build()));
  }

  /** Checks that an outcome is a refusal with at least one reason, each with a message. */
  protected static Outcome.Refused refused(Outcome outcome) {
    assertThat(outcome).isInstanceOf(Outcome.Refused.class);
    Outcome.Refused refused = (Outcome.Refused) outcome;
    assertThat(refused.reasons()).isNotEmpty();
    assertThat(refused.reasons()).noneMatch(reason -> reason.message().isBlank());
    return refused;
  }

  /** The kinds of the reasons of a refusal. */
  protected static List<Reason.Kind> kinds(Outcome.Refused refused) {
    return refused.reasons().stream().map(Reason::kind).toList();
  }

  /** Claims the oldest task of a group, which must exist. */
  protected Task claim(Owner client, String group) {
    return claim(client, group, LEASE);
  }

  /** Claims the oldest task of a group, which must exist, for this long. */
  protected Task claim(Owner client, String group, Duration lease) {
    List<Task> tasks = claimed(Claim.of(client, group, lease).withOrder(Claim.Order.OLDEST));
    assertThat(tasks).as("tasks claimed from " + group).hasSize(1);
    return tasks.getFirst();
  }

  /** The tasks that a claim takes; empty if none is available. */
  protected List<Task> claimed(Claim claim) {
    return store().claim(claim).done().tasks();
  }

  /** Submits a command that may wait, and lets it reach the store. */
  protected CompletableFuture<Outcome> submit(Command command) {
    CompletableFuture<Outcome> future = store().submit(command);
    settle();
    return future;
  }

  /** Waits until everything submitted or cancelled so far has reached the store. */
  protected void settle() {
    fixture.settle();
    now();
  }

  /** Waits for an answer, which must come within 30 seconds. */
  protected static Outcome answer(CompletableFuture<Outcome> future) {
    try {
      return future.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("no answer came", e);
    } catch (ExecutionException e) {
      throw new AssertionError("the command failed", e.getCause());
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  /** All tasks of a group. */
  protected List<Task> tasksOf(String group) {
    return store().group(GroupQuery.all(group)).value();
  }

  /** Whether the store has a task with this reference. */
  protected boolean isThere(TaskRef task) {
    return store().task(task).value().isPresent();
  }

  /** The data of tasks as text. */
  protected static List<String> texts(List<Task> tasks) {
    return tasks.stream().map(task -> task.data().utf8()).toList();
  }

  /** A document of a collection that all tests use. */
  protected static DocumentKey doc(String key) {
    return new DocumentKey("things", key);
  }

  private enum NotOpened implements StoreFixture {
    FIXTURE;

    @Override
    public TaskStore store() {
      throw new IllegalStateException("no test has begun");
    }

    @Override
    public Limits limits() {
      throw new IllegalStateException("no test has begun");
    }

    @Override
    public void close() {}
  }
}
