package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.params;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.Watch;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * What queues, tasks and runs do over any store. Extend it and supply a store; the same holds for
 * {@link SweeperContract}.
 */
public abstract class QueuesContract {
  private StoreFixture store;
  private QueuesFixture world;

  /** For subclasses. */
  protected QueuesContract() {}

  /** An empty open store; called once for each test. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = open();
    world = new QueuesFixture(store, folder);
  }

  @AfterEach
  void end() {
    store.close();
  }

  private RunRegistry runs() {
    return world.queues().runs();
  }

  private TaskSubmission submission() {
    return world.queues().submission();
  }

  private TaskRegistry tasks() {
    return world.queues().tasks();
  }

  private List<Run> claim(NodeRecord node, Queue queue, int most) {
    return runs().claim(node, queue, most, LEASE);
  }

  @Test
  void a_task_goes_from_queued_over_claimed_and_running_to_finished() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    assertThat(world.task(id).status()).isEqualTo(Status.QUEUED);
    assertThat(world.task(id).progress().node()).isNull();

    Run run = claim(world.node("n1"), queue, 5).getFirst();
    assertThat(world.task(id).status()).isEqualTo(Status.CLAIMED);
    assertThat(world.task(id).progress().node()).isEqualTo("n1");

    Run started = runs().start(run, "7 mark", LEASE);
    assertThat(world.task(id).status()).isEqualTo(Status.RUNNING);
    assertThat(runs().find(id)).contains(started);

    QueueTask done = runs().finish(started, report(3, "hello"));
    assertThat(done.status()).isEqualTo(3);
    assertThat(world.task(id)).isEqualTo(done);
    assertThat(done.output().stdout()).isEqualTo(new Output.Text("hello"));
    assertThat(runs().all()).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue)))
        .containsExactly(new Queue.Counts(0, 0, 1));
  }

  @Test
  void a_task_whose_id_the_caller_has_made_is_created_once() throws Exception {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.queues().newId();
    try (Watch.Changes<ObjectId, QueueTask> changes = world.queues().changes()) {
      QueueTask created = submission().submitOnce(queue, id, params("1"), null);
      assertThat(created.status()).isEqualTo(Status.QUEUED);
      assertThat(submission().submitOnce(queue, id, params("2"), null)).isEqualTo(created);
      Run run = claim(world.node("n1"), queue, 5).getFirst();
      runs().finish(runs().start(run, "7 mark", LEASE), report(1, "hello"));
      QueueTask ended = submission().submitOnce(queue, id, params("3"), null);
      assertThat(ended.status()).isEqualTo(1);

      List<QueueTask> seen = new ArrayList<>();
      while (seen.isEmpty() || seen.getLast().status() != 1) {
        changes.next(Duration.ofSeconds(30), id::equals).forEach((_, task) -> seen.add(task));
      }
      assertThat(seen)
          .extracting(QueueTask::status)
          .containsExactly(Status.QUEUED, Status.CLAIMED, Status.RUNNING, 1);
      assertThat(seen.getLast()).isEqualTo(ended);
    }
    world.queues().queues().delete(queue.id());
    assertThatThrownBy(
            () -> submission().submitOnce(queue, world.queues().newId(), params("1"), null))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("queue not found");
  }

  @Test
  void the_limit_of_a_queue_holds_over_all_nodes() {
    Queue queue = world.queue("demo", 3);
    world.submit(queue, 10);
    NodeRecord first = world.node("n1");
    NodeRecord second = world.node("n2");
    List<Run> some = claim(first, queue, 2);
    assertThat(some).hasSize(2);
    assertThat(claim(second, queue, 5)).hasSize(1);
    assertThat(claim(second, queue, 5)).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue)))
        .containsExactly(new Queue.Counts(7, 3, 0));
    runs().finish(runs().start(some.getFirst(), "7 mark", LEASE), report(1, ""));
    assertThat(claim(second, queue, 5)).hasSize(1);
  }

  @Test
  void a_queue_without_threads_or_with_none_runs_nothing() {
    Queue without = world.queues().queues().create("a", "shell", Queue.Settings.DEFAULTS);
    Queue none = world.queue("b", 0);
    world.submit(without, 1);
    world.submit(none, 1);
    NodeRecord node = world.node("n1");
    assertThat(claim(node, without, 1)).isEmpty();
    assertThat(claim(node, none, 1)).isEmpty();
  }

  @Test
  void who_has_old_settings_of_queue_or_node_claims_nothing() {
    Queue queue = world.queue("demo", 5);
    world.submit(queue, 5);
    NodeRecord node = world.node("n1");
    Queue changed =
        world
            .queues()
            .queues()
            .change(
                queue.id(),
                old ->
                    new QueueBackend.Change(
                        old.name(), old.plugin(), old.settings().withThreads(2)))
            .orElseThrow();
    assertThat(claim(node, queue, 5)).isEmpty();
    assertThat(claim(node, changed, 5)).hasSize(2);
    NodeRecord limited = world.queues().nodes().limit("n1", 1).orElseThrow();
    runs().giveBack(runs().all().getFirst());
    assertThat(claim(node, changed, 1)).isEmpty();
    assertThat(claim(limited, changed, 1)).hasSize(1);
  }

  @Test
  void tasks_run_in_the_order_that_the_queue_says() {
    NodeRecord node = world.node("n1");
    Queue fifo = world.queue("fifo", 9);
    List<ObjectId> first = world.submit(fifo, 3);
    assertThat(claim(node, fifo, 3)).extracting(Run::task).containsExactlyElementsOf(first);
    Queue.Settings settings = new Queue.Settings(9, Sort.LIFO, List.of(), List.of(), 0);
    Queue lifo = world.queues().queues().create("lifo", "shell", settings);
    List<ObjectId> second = world.submit(lifo, 3);
    assertThat(claim(node, lifo, 3))
        .extracting(Run::task)
        .containsExactlyElementsOf(second.reversed());
  }

  @Test
  void a_task_given_back_keeps_its_place() {
    Queue queue = world.queue("demo", 1);
    List<ObjectId> ids = world.submit(queue, 3);
    NodeRecord node = world.node("n1");
    Run run = claim(node, queue, 1).getFirst();
    assertThat(run.task()).isEqualTo(ids.getFirst());
    assertThat(runs().giveBack(run)).isTrue();
    assertThat(world.task(ids.getFirst()).status()).isEqualTo(Status.QUEUED);
    assertThat(world.task(ids.getFirst()).progress().node()).isNull();
    assertThat(claim(node, queue, 1).getFirst().task()).isEqualTo(ids.getFirst());
    assertThatThrownBy(() -> runs().start(run, "7 mark", LEASE))
        .isInstanceOf(LostClaimException.class);
  }

  @Test
  void custom_negative_statuses_hold_a_task_back_until_it_is_queued_again() {
    Queue queue = world.queue("demo", 1);
    NodeRecord node = world.node("n1");
    ObjectId id = submission().submit(queue, List.of(params("x")), -7).getFirst();
    assertThat(claim(node, queue, 1)).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().queued()).isEqualTo(1);
    assertThat(tasks().hold(id, Status.BLOCKED, "later").orElseThrow().status()).isEqualTo(-4);
    assertThat(tasks().requeue(id).orElseThrow().status()).isEqualTo(Status.QUEUED);
    assertThat(claim(node, queue, 1)).hasSize(1);
    assertThatThrownBy(() -> tasks().hold(id, Status.CANCELLED, ""))
        .isInstanceOf(TaskStateException.class)
        .hasMessageContaining("is claimed; terminate it");
  }

  /** A queue whose plugin does not say which params it knows. */
  private Queue withAnyParams() {
    return world
        .queues()
        .queues()
        .create("own", "my.Plugin", Queue.Settings.DEFAULTS.withThreads(1));
  }

  @Test
  void params_that_the_plugin_does_not_know_are_refused() {
    Queue queue = world.queue("demo", 1, "key_field", "user", "unique_fields", "day");
    ObjectNode good = params("x").put("mixed", true).put("user", "ann").put("day", "monday");
    assertThat(submission().submit(queue, List.of(good), Status.QUEUED)).hasSize(1);
    ObjectNode wrong = params("x").put("comand", "y");
    assertThatThrownBy(() -> submission().submit(queue, List.of(good, wrong), Status.QUEUED))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("plugin shell has no param \"comand\", only command, mixed");
    assertThatThrownBy(() -> submission().submitOnce(queue, world.queues().newId(), wrong, null))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() -> submission().checkKnown(queue, wrong))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().queued()).isOne();
    submission().checkKnown(withAnyParams(), wrong);
  }

  @Test
  void what_users_write_never_becomes_part_of_a_template() {
    Queue queue = withAnyParams();
    ObjectNode tricky = params("echo {{definition}} {{t0}}").put("{{key}}", "a{b}c{{x");
    ObjectId id = submission().submit(queue, List.of(tricky), Status.QUEUED).getFirst();
    assertThat(world.task(id).params()).isEqualTo(tricky);
    Run run = claim(world.node("n1"), queue, 1).getFirst();
    String braces = "{{" + id.hex() + "}}";
    runs().finish(runs().start(run, "7 mark", LEASE), report(1, braces));
    assertThat(world.task(id).output().stdout()).isEqualTo(new Output.Text(braces));
  }

  @Test
  void names_of_queues_are_unique() {
    Queue queue = world.queue("demo", 1);
    assertThatThrownBy(() -> world.queue("demo", 1)).hasMessageContaining("demo already");
    Queue other = world.queue("other", 1);
    assertThatThrownBy(() -> rename(other, "demo")).hasMessageContaining("demo already");
    rename(other, "new");
    assertThat(world.queues().queues().find("other")).isEmpty();
    assertThat(world.queues().queues().find("new").orElseThrow().id()).isEqualTo(other.id());
    assertThat(world.queues().queues().delete(queue.id())).isTrue();
    assertThat(world.queues().queues().delete(queue.id())).isFalse();
    assertThat(world.queue("demo", 1).id()).isNotEqualTo(queue.id());
  }

  @ParameterizedTest
  @ValueSource(strings = {"id", "search", "wait", ".", "..", "6b0250568aa4ca1049000000", ""})
  void names_that_mean_something_else_are_refused(String name) {
    assertThatThrownBy(() -> world.queue(name, 1))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(name);
    Queue queue = world.queue("demo", 1);
    assertThatThrownBy(() -> rename(queue, name)).isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void names_have_at_most_512_bytes() {
    assertThat(world.queue("ö".repeat(256), 1).name()).hasSize(256);
    assertThatThrownBy(() -> world.queue("ö".repeat(257), 1))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("the name of a queue has 514 bytes of UTF-8, more than 512");
  }

  @Test
  void numbers_keep_the_digits_that_they_were_given_with() {
    Queue queue = withAnyParams();
    ObjectNode prices = params("x");
    prices.put("price", new BigDecimal("1.10")).put("many", new BigDecimal("0.1").pow(40));
    ObjectId id = submission().submit(queue, List.of(prices), Status.QUEUED).getFirst();
    assertThat(world.task(id).params()).hasToString(prices.toString());
    assertThat(prices.toString()).contains("1.10");
  }

  @Test
  void a_full_store_is_no_fault_of_the_request() {
    Queue queue = world.queue("demo", 1);
    List<ObjectNode> params = Collections.nCopies(20, params("x".repeat(5_000)));
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 100; i++) {
                submission().submit(queue, params, Status.QUEUED);
              }
            })
        .isInstanceOf(StoreFullException.class)
        .hasMessageContaining("the store is full");
    assertThat(world.queues().queues().delete(queue.id())).isTrue();
  }

  private void rename(Queue queue, String name) {
    world
        .queues()
        .queues()
        .change(queue.id(), old -> new QueueBackend.Change(name, old.plugin(), old.settings()));
  }

  @Test
  void a_repeated_start_or_report_of_the_same_runner_changes_nothing() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = claim(world.node("n1"), queue, 1).getFirst();
    Run started = runs().start(run, "7 mark", LEASE);
    assertThat(runs().start(run, "7 mark", LEASE)).isEqualTo(started);
    assertThatThrownBy(() -> runs().start(run, "8 mark", LEASE))
        .isInstanceOf(LostClaimException.class);
    QueueTask done = runs().finish(started, report(1, "x"));
    assertThat(runs().finish(started, report(1, "x"))).isEqualTo(done);
    assertThatThrownBy(() -> runs().finish(started, report(2, "y")))
        .isInstanceOf(LostClaimException.class);
    assertThat(world.task(id)).isEqualTo(done);
  }

  @Test
  void a_report_on_what_the_start_has_left_may_be_repeated_and_not_changed() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = claim(world.node("n1"), queue, 1).getFirst();
    Started started = runs().begin(run, "7 mark", LEASE);
    assertThat(started.task()).isEqualTo(world.task(id));
    assertThat(runs().begin(run, "7 mark", LEASE)).isEqualTo(started);
    QueueTask done = runs().finish(started, report(1, "x"));
    assertThat(runs().finish(started, report(1, "x"))).isEqualTo(done);
    assertThatThrownBy(() -> runs().finish(started, report(2, "y")))
        .isInstanceOf(LostClaimException.class);
    assertThat(world.task(id)).isEqualTo(done);
  }

  @Test
  void a_start_of_a_run_that_was_given_back_and_claimed_again_is_refused() {
    Queue queue = world.queue("demo", 1);
    world.submit(queue, 1);
    NodeRecord node = world.node("n1");
    Run first = claim(node, queue, 1).getFirst();
    runs().giveBack(first);
    Run second = claim(node, queue, 1).getFirst();
    assertThatThrownBy(() -> runs().begin(first, "7 mark", LEASE))
        .isInstanceOf(LostClaimException.class);
    Started started = runs().begin(second, "8 mark", LEASE);
    assertThatThrownBy(() -> runs().finish(new Started(first, started.task()), report(1, "late")))
        .isInstanceOf(LostClaimException.class);
    assertThat(runs().finish(started, report(1, "x")).status()).isEqualTo(1);
  }

  @Test
  void a_wish_to_end_a_task_that_comes_after_its_start_goes_with_its_report() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = claim(world.node("n1"), queue, 1).getFirst();
    Started started = runs().begin(run, "7 mark", LEASE);
    tasks().terminate(id);
    assertThat(runs().finish(started, report(1, "done before it heard")).status()).isEqualTo(1);
    assertThat(runs().isToStop(id)).isFalse();
    assertThat(runs().all()).isEmpty();
  }

  @Test
  void a_runner_that_reports_an_orphan_has_it_queued_again_where_the_queue_says_so() {
    Queue.Settings settings = new Queue.Settings(1, Sort.FIFO, List.of(), List.of(), 1);
    Queue queue = world.queues().queues().create("again", "shell", settings);
    ObjectId id = world.submit(queue, 1).getFirst();
    NodeRecord node = world.node("n1");
    Started once = runs().begin(claim(node, queue, 1).getFirst(), "7 mark", LEASE);
    assertThat(runs().finish(once, report(Status.ORPHANED, "")).status()).isEqualTo(Status.QUEUED);
    Started twice = runs().begin(claim(node, queue, 1).getFirst(), "8 mark", LEASE);
    assertThat(runs().finish(twice, report(Status.ORPHANED, "")).status())
        .isEqualTo(Status.ORPHANED);
    assertThat(world.task(id).progress().orphaned()).isEqualTo(1);
  }

  @Test
  void a_word_to_end_a_task_goes_with_the_run_it_was_meant_for() {
    Queue queue = world.queue("demo", 1);
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = runs().start(claim(world.node("n1"), queue, 1).getFirst(), "7 mark", LEASE);
    assertThat(tasks().terminate(id)).isPresent();
    assertThat(runs().isToStop(id)).isTrue();
    runs().finish(run, report(Status.TERMINATED, ""));
    assertThat(world.task(id).status()).isEqualTo(Status.TERMINATED);
    assertThat(runs().isToStop(id)).isFalse();
    tasks().requeue(id);
    assertThat(tasks().terminate(id).orElseThrow().status()).isEqualTo(Status.TERMINATED);
    assertThat(runs().isToStop(id)).isFalse();
  }

  @Test
  void another_process_that_takes_the_name_of_a_node_shuts_it_out() {
    Queue queue = world.queue("demo", 1);
    world.submit(queue, 1);
    NodeRecord old = world.node("n1");
    NodeIdentity next = new NodeIdentity("next", "host", "2 mark", List.of());
    NodeRecord taken = world.queues().nodes().take("n1", old, next).orElseThrow();
    assertThat(taken.id()).isEqualTo(old.id());
    assertThat(world.queues().nodes().take("n1", old, next)).isEmpty();
    assertThat(claim(old, queue, 1)).isEmpty();
    assertThat(claim(taken, queue, 1)).hasSize(1);
    NodeIdentity former = Objects.requireNonNull(old.presence());
    assertThat(world.queues().nodes().refresh(old, former)).isEmpty();
    world.queues().nodes().leave(old, "instance-n1");
    assertThat(world.queues().nodes().find("n1").orElseThrow().isHeldBy("next")).isTrue();
  }
}
