package io.millrace.queues.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.environment.FaultyStore;
import io.millrace.work.Step;
import io.millrace.work.bulk.BulkAction;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkActions;
import io.millrace.work.bulk.BulkActions.Preview;
import io.millrace.work.bulk.BulkException.BulkStateException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkException.NoBulkActionException;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class BulkTasksTest {
  private static final Starter STARTER = new Starter("tester", null, "127.0.0.1");

  private EmbeddedFixture fixture;
  private Queues queues;
  private BulkActions actions;
  private Queue mail;
  private Queue other;
  private long millis = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();

  @BeforeEach
  void open() {
    fixture = new EmbeddedFixture(1);
    queues = queues(fixture.store(), 1);
    actions = actions(fixture.store(), 2);
    mail = queues.queues().create("mail", "own", Queue.Settings.DEFAULTS);
    other = queues.queues().create("other", "own", Queue.Settings.DEFAULTS);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private Instant now() {
    return Instant.ofEpochMilli(millis);
  }

  private Queues queues(TaskStore store, long seed) {
    return Queues.in(store, this::now, new Random(seed));
  }

  private BulkActions actions(TaskStore store, long seed) {
    return BulkActions.in(
        store, List.of(new BulkTasks(queues(store, seed + 1))), this::now, new Random(seed));
  }

  private static ObjectNode json(String text) {
    return (ObjectNode) JsonMapper.shared().readTree(text.replace('\'', '"'));
  }

  private static BulkOrder order(String action, String filter, String... options) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i < options.length; i += 2) {
      given.put(options[i], options[i + 1]);
    }
    return new BulkOrder("tasks", action, json(filter), given, null);
  }

  private List<ObjectId> submit(Queue queue, int count, int status) {
    // The store of these tests takes few operations in a transaction.
    List<ObjectId> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ObjectNode params = json("{'command': 'x', 'number': " + i + "}");
      ids.addAll(queues.submission().submit(queue, List.of(params), status));
    }
    return ids;
  }

  private BulkAction run(BulkOrder order) {
    BulkAction started = actions.start(order, order.filter().isEmpty(), STARTER);
    return finish(started.id());
  }

  private BulkAction finish(String id) {
    Step runner = actions.runner((_, _) -> {});
    for (int i = 0; i < 1_000; i++) {
      runner.step(now());
      BulkAction action = actions.find(id).orElseThrow();
      if (action.state() != State.RUNNING) {
        return action;
      }
      millis++;
    }
    throw new AssertionError("it does not end: " + actions.find(id));
  }

  private List<Integer> statuses(List<ObjectId> ids) {
    return ids.stream().map(id -> queues.tasks().find(id).orElseThrow().status()).toList();
  }

  @Test
  void an_action_changes_what_its_filter_chooses_and_nothing_else() {
    List<ObjectId> wanted = submit(mail, 450, Status.QUEUED);
    List<ObjectId> elsewhere = submit(other, 3, Status.QUEUED);
    List<ObjectId> held = submit(mail, 2, -7);

    BulkAction done =
        run(order("block", "{'queue': 'mail', 'params.number': {'$gte': 0}}", "reason", "later"));

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(done.total()).isEqualTo(450);
    assertThat(done.progress().done()).isEqualTo(450);
    assertThat(done.progress().skips()).isZero();
    assertThat(statuses(wanted)).containsOnly(Status.BLOCKED);
    assertThat(queues.tasks().find(wanted.getFirst()).orElseThrow().progress().reason())
        .isEqualTo("later");
    assertThat(statuses(elsewhere)).containsOnly(Status.QUEUED);
    assertThat(statuses(held)).containsOnly(-7);
  }

  @Test
  void state_and_queue_and_time_are_combined_and_times_ago_are_resolved_at_the_start() {
    List<ObjectId> old = submit(mail, 3, Status.BLOCKED);
    millis += Duration.ofHours(3).toMillis();
    List<ObjectId> young = submit(mail, 3, Status.BLOCKED);
    BulkOrder order =
        order(
            "requeue", "{'queue': 'mail', 'status': 'blocked', 'mtime': {'$lt': {'$ago': '2h'}}}");

    BulkAction started = actions.start(order, false, STARTER);
    millis += Duration.ofHours(3).toMillis();
    BulkAction done = finish(started.id());

    assertThat(done.progress().done()).isEqualTo(3);
    assertThat(statuses(old)).containsOnly(Status.QUEUED);
    assertThat(statuses(young)).containsOnly(Status.BLOCKED);
  }

  @Test
  void what_was_created_after_the_start_is_left_alone() {
    submit(mail, 5, Status.QUEUED);
    BulkAction started = actions.start(order("cancel", "{}"), true, STARTER);
    millis++;
    List<ObjectId> later = submit(mail, 5, Status.QUEUED);

    assertThat(finish(started.id()).progress().done()).isEqualTo(5);
    assertThat(statuses(later)).containsOnly(Status.QUEUED);
  }

  @Test
  void moved_tasks_keep_their_ids_delays_and_unique_keys() {
    ObjectId plain = submit(mail, 1, Status.QUEUED).getFirst();
    List<ObjectId> unique = new ArrayList<>();
    for (Queue queue : List.of(mail, other)) {
      Terms terms =
          new Terms(
              Status.QUEUED,
              Duration.ofHours(1),
              null,
              new Policy(Map.of("unique_fields", "number")));
      queues
          .submission()
          .submit(
              queue,
              List.of(json("{'number': 1}")),
              terms,
              some -> some.forEach(each -> unique.add(each.id())));
    }
    millis += 1_000;

    BulkAction done = run(order("move", "{'queue': 'mail'}", "queue", "other"));

    assertThat(done.progress().done()).isEqualTo(1);
    assertThat(done.progress().skipped())
        .containsExactly(Map.entry("its unique key is taken in the other queue", 1L));
    assertThat(done.progress().examples().getFirst().id()).isEqualTo(unique.getFirst().hex());
    assertThat(queues.tasks().find(plain).orElseThrow().queue()).isEqualTo(other.id());
    assertThat(queues.tasks().find(unique.getFirst()).orElseThrow().queue()).isEqualTo(mail.id());

    BulkAction deleted = run(order("delete", "{'_id': '" + unique.getLast().hex() + "'}"));
    assertThat(deleted.progress().done()).isEqualTo(1);
    assertThat(run(order("move", "{'queue': 'mail'}", "queue", "other")).progress().done())
        .isEqualTo(1);
    QueueTask moved = queues.tasks().find(unique.getFirst()).orElseThrow();
    assertThat(moved.progress().retries().notBeforeMillis())
        .isEqualTo(moved.ctimeMillis() + Duration.ofHours(1).toMillis());
    List<Boolean> duplicates = new ArrayList<>();
    queues
        .submission()
        .submit(
            other,
            List.of(json("{'number': 1}")),
            new Terms(
                Status.QUEUED, Duration.ZERO, null, new Policy(Map.of("unique_fields", "number"))),
            some -> some.forEach(each -> duplicates.add(each.duplicate())));
    assertThat(duplicates).containsExactly(true);
  }

  @Test
  void tasks_are_not_moved_to_a_queue_whose_plugin_does_not_know_their_params() {
    List<ObjectId> ids = submit(mail, 2, Status.QUEUED);
    var _ = queues.queues().create("commands", "shell", Queue.Settings.DEFAULTS);
    BulkAction done = run(order("move", "{'queue': 'mail'}", "queue", "commands"));
    assertThat(done.progress().done()).isZero();
    assertThat(done.progress().skipped())
        .containsExactly(
            Map.entry("plugin shell has no param \"number\", only command, mixed", 2L));
    assertThat(queues.tasks().find(ids.getFirst()).orElseThrow().queue()).isEqualTo(mail.id());
  }

  @Test
  void deleted_tasks_leave_nothing() {
    submit(mail, 7, Status.BLOCKED);
    assertThat(run(order("delete", "{'queue': 'mail'}")).progress().done()).isEqualTo(7);
    assertThat(queues.index().counts()).isEmpty();
  }

  @Test
  void a_preview_counts_and_shows_and_changes_nothing() {
    List<ObjectId> ids = submit(mail, 25, Status.QUEUED);
    Preview preview = actions.preview(order("cancel", "{'queue': 'mail'}"), false);
    assertThat(preview.total()).isEqualTo(25);
    assertThat(preview.examples()).hasSize(10);
    assertThat(preview.examples().getFirst().id()).isEqualTo(ids.getFirst().hex());
    assertThat(preview.examples().getFirst().summary()).isEqualTo("queued, queue mail");
    assertThat(statuses(ids)).containsOnly(Status.QUEUED);
  }

  @Test
  void a_cancelled_action_stops_where_it_is() {
    submit(mail, 450, Status.QUEUED);
    BulkAction started = actions.start(order("cancel", "{}"), true, STARTER);
    Step runner = actions.runner((_, _) -> {});
    runner.step(now());
    assertThatThrownBy(() -> actions.delete(started.id())).isInstanceOf(BulkStateException.class);
    runner.step(now());
    runner.step(now());
    runner.step(now());
    runner.step(now());
    long done = actions.cancel(started.id()).progress().done();
    assertThat(done).isBetween(1L, 449L);
    runner.step(now());
    assertThat(Objects.requireNonNull(queues.index().counts().get(mail.id())).queued())
        .isEqualTo(450 - done);
    assertThatThrownBy(() -> actions.cancel(started.id())).isInstanceOf(BulkStateException.class);
    actions.delete(started.id());
    assertThatThrownBy(() -> actions.cancel(started.id()))
        .isInstanceOf(NoBulkActionException.class);
    assertThat(actions.list()).isEmpty();
  }

  @Test
  void actions_that_have_ended_are_kept_for_a_week() {
    BulkAction done = run(order("cancel", "{}"));
    assertThat(actions.list()).hasSize(1);
    millis += Duration.ofDays(8).toMillis();
    actions.runner((_, _) -> {}).step(now());
    assertThat(actions.find(done.id())).isEmpty();
  }

  @Test
  void a_limited_reach_keeps_to_its_queues() {
    submit(mail, 3, Status.QUEUED);
    List<ObjectId> elsewhere = submit(other, 3, Status.QUEUED);
    BulkOrder limited = new BulkOrder("tasks", "cancel", json("{}"), Map.of(), Set.of("ma"));
    assertThat(run(limited).progress().done()).isEqualTo(3);
    assertThat(statuses(elsewhere)).containsOnly(Status.QUEUED);
    BulkOrder move =
        new BulkOrder("tasks", "move", json("{}"), Map.of("queue", "other"), Set.of("ma"));
    assertThatThrownBy(() -> actions.preview(move, true))
        .isInstanceOf(InvalidBulkException.class)
        .hasMessage("there is no queue other");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          cancel | {}                      | false | an empty filter chooses everything
          cancel | {'queue': 'mail'}       | true  | all cannot be combined with a filter
          cancel | {'statsu': 2}           | false | tasks have no field statsu
          cancel | {'status': 'faild'}     | false | there is no status faild
          cancel | {'queue': 'none'}       | false | there is no queue none
          cancel | {'$or': []}             | false | $or needs an array
          cancel | {'a': {'$ago': 'x'}}    | false | $ago must be a duration
          move   | {'queue': 'mail'}       | false | the action move needs the option queue
          burn   | {'queue': 'mail'}       | false | the action for tasks must be one of retry,
          """)
  void what_is_wrong_is_refused(String action, String filter, boolean all, String message) {
    assertThatThrownBy(() -> actions.start(order(action, filter), all, STARTER))
        .isInstanceOf(InvalidBulkException.class)
        .hasMessageContaining(message);
    assertThat(actions.list()).isEmpty();
  }

  @Test
  void unknown_kinds_and_options_are_refused() {
    assertThatThrownBy(
            () -> actions.preview(order("cancel", "{'queue': 'mail'}", "why", "x"), false))
        .hasMessage("the action cancel has no option why, only reason");
    BulkOrder kind = new BulkOrder("cows", "cancel", json("{'a': 1}"), Map.of(), null);
    assertThatThrownBy(() -> actions.preview(kind, false))
        .hasMessage("kind must be one of tasks, not cows");
  }

  /** Loses calls and answers, crashes, and changes tasks between a read and a commit. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void each_task_is_changed_once_whatever_crashes_and_changes(long seed) {
    Random random = new Random(seed);
    List<ObjectId> all = submit(mail, 50 + random.nextInt(700), Status.QUEUED);
    Set<ObjectId> released = new HashSet<>();
    Set<ObjectId> cancelled = new HashSet<>();
    TaskStore unreliable =
        FaultyStore.breaking(
            fixture::store,
            () -> {
              if (random.nextInt(3) == 0) {
                interfere(all.get(random.nextInt(all.size())), released, cancelled);
              }
              return random.nextInt(15) == 0;
            });
    BulkAction started = actions.start(order("block", "{'queue': 'mail'}"), false, STARTER);
    BulkActions faulty = actions(unreliable, seed);
    Step runner = faulty.runner((_, _) -> {});
    int steps = 0;
    while (actions.find(started.id()).orElseThrow().state() == State.RUNNING) {
      try {
        Instant due = runner.step(now());
        millis = Math.max(millis + 1, Math.min(due.toEpochMilli(), millis + 60_000));
      } catch (StoreException _) {
        if (random.nextBoolean()) {
          runner = faulty.runner((_, _) -> {});
        }
      }
      assertThat(++steps).as("seed %s", seed).isLessThan(100_000);
    }

    BulkAction done = actions.find(started.id()).orElseThrow();
    Set<ObjectId> blocked = new HashSet<>(released);
    for (ObjectId id : all) {
      int status = queues.tasks().find(id).orElseThrow().status();
      if (released.contains(id)) {
        assertThat(status).as("seed %s: %s is not blocked twice", seed, id).isEqualTo(-2);
      } else if (status == Status.BLOCKED) {
        blocked.add(id);
      } else {
        assertThat(cancelled).as("seed %s: %s was visited", seed, id).contains(id);
      }
    }
    assertThat(done.progress().done()).as("seed %s", seed).isEqualTo(blocked.size());
    assertThat(done.progress().skips()).as("seed %s", seed).isLessThanOrEqualTo(cancelled.size());
  }

  private void interfere(ObjectId id, Set<ObjectId> released, Set<ObjectId> cancelled) {
    int status = queues.tasks().find(id).orElseThrow().status();
    try {
      if (status == Status.BLOCKED) {
        queues.tasks().requeue(id);
        released.add(id);
      } else if (status == Status.QUEUED && !released.contains(id)) {
        queues.tasks().hold(id, Status.CANCELLED, "");
        cancelled.add(id);
      }
    } catch (TaskStateException e) {
      throw new AssertionError(e);
    }
  }
}
