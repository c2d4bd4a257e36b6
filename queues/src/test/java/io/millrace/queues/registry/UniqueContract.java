package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.params;
import static io.millrace.queues.registry.QueuesFixture.policy;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.testkit.contract.StoreFixture;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks with unique keys, over any store; see {@link QueuesContract}. */
public abstract class UniqueContract {
  private StoreFixture store;
  private QueuesFixture world;

  /** For subclasses. */
  protected UniqueContract() {}

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

  private static Terms terms(String... settings) {
    return new Terms(Status.QUEUED, Duration.ZERO, null, policy(settings));
  }

  private Submitted submit(Queue queue, String... settings) {
    return world.submit(queue, terms(settings), params("x")).getFirst();
  }

  private Run claim(Queue queue) {
    NodeRecord node = world.queues().nodes().find("n1").orElseGet(() -> world.node("n1"));
    return world.queues().runs().claim(node, queue, 1, LEASE).getFirst();
  }

  private Run start(Queue queue) {
    return world.queues().runs().start(claim(queue), "7 mark", LEASE);
  }

  @Test
  void a_second_submission_gets_the_first_task_until_that_has_ended() {
    Queue queue = world.queue("demo", 5);
    Submitted first = submit(queue, "unique", "k");
    assertThat(first.duplicate()).isFalse();
    assertThat(submit(queue, "unique", "k")).isEqualTo(new Submitted(first.id(), true));
    assertThat(submit(queue, "unique", "other").duplicate()).isFalse();
    assertThat(submit(world.queue("second", 1), "unique", "k").duplicate()).isFalse();
    Run run = start(queue);
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.restart();
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.queues().runs().finish(run, report(Status.FAILED, ""));
    Submitted next = submit(queue, "unique", "k");
    assertThat(next.duplicate()).isFalse();
    assertThat(next.id()).isNotEqualTo(first.id());
  }

  @Test
  void one_request_with_the_same_key_several_times_creates_one_task() {
    Queue queue = world.queue("demo", 5, "unique_fields", "command");
    List<Submitted> some =
        world.submit(
            queue, Terms.DEFAULTS, params("a"), params("b"), params("a"), params("c"), params("b"));
    assertThat(some)
        .extracting(Submitted::duplicate)
        .containsExactly(false, false, true, false, true);
    assertThat(some.get(2).id()).isEqualTo(some.get(0).id());
    assertThat(some.get(4).id()).isEqualTo(some.get(1).id());
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().queued()).isEqualTo(3);
    assertThat(world.submit(queue, Terms.DEFAULTS, params("a"), params("c")))
        .allMatch(Submitted::duplicate);
  }

  @Test
  void the_named_params_make_the_key_and_no_others() {
    Queue queue = world.queue("demo", 5, "unique_fields", "user,day");
    Terms plain = Terms.DEFAULTS;
    Submitted first =
        world.submit(queue, plain, params("x").put("user", "a").put("day", 1)).getFirst();
    assertThat(
            world.submit(queue, plain, params("y").put("day", 1).put("user", "a")).getFirst().id())
        .isEqualTo(first.id());
    assertThat(
            world.submit(
                queue,
                plain,
                params("x").put("user", "a").put("day", 2),
                params("x").put("user", "a").put("day", "1"),
                params("x").put("day", 1),
                params("x").put("user", "absent").put("day", 1)))
        .noneMatch(Submitted::duplicate);
  }

  @Test
  void a_key_that_is_held_until_the_start_is_free_when_the_work_begins() {
    Queue queue = world.queue("demo", 5, "unique_scope", "queued");
    Submitted first = submit(queue, "unique", "k");
    Run claimed = claim(queue);
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.queues().runs().giveBack(claimed);
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    Run run = start(queue);
    Submitted second = submit(queue, "unique", "k");
    assertThat(second.duplicate()).isFalse();
    world.queues().runs().finish(run, report(Status.SUCCEEDED, ""));
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(second.id());
  }

  @Test
  void a_key_with_a_period_is_held_as_long_whatever_becomes_of_the_task() {
    Queue queue = world.queue("demo", 5);
    String[] settings = {"unique", "k", "unique_period", "1h"};
    Submitted first = submit(queue, settings);
    world.queues().runs().finish(start(queue), report(Status.SUCCEEDED, ""));
    world.advance(Duration.ofMinutes(59));
    assertThat(submit(queue, settings)).isEqualTo(new Submitted(first.id(), true));
    world.advance(Duration.ofMinutes(2));
    Submitted next = submit(queue, settings);
    assertThat(next.duplicate()).isFalse();
    assertThat(submit(queue, settings).id()).isEqualTo(next.id());
    world.advance(Duration.ofHours(2));
    world.sweeper(Sweeper.Settings.DEFAULTS).step(world.clock().instant());
    assertThat(world.store().documents(DocumentQuery.prefix("queues.unique", "")).value())
        .isEmpty();
  }

  @Test
  void a_task_keeps_its_key_while_it_waits_for_a_retry_or_is_blocked() {
    Queue queue = world.queue("demo", 5, "attempts", "2", "retry_jitter", "0");
    Submitted first = submit(queue, "unique", "k");
    world.queues().runs().finish(start(queue), report(Status.FAILED, ""));
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.queues().tasks().hold(first.id(), Status.BLOCKED, "");
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.queues().tasks().requeue(first.id());
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
  }

  @ParameterizedTest
  @ValueSource(ints = {Status.CANCELLED, Status.TERMINATED})
  void a_task_that_is_given_up_releases_its_key(int status) {
    Queue queue = world.queue("demo", 5);
    Submitted first = submit(queue, "unique", "k");
    world.queues().tasks().hold(first.id(), status, "");
    assertThat(submit(queue, "unique", "k").duplicate()).isFalse();
    // The first one has no key any more.
    assertThat(world.queues().tasks().requeue(first.id())).isPresent();
    world.queues().runs().finish(start(queue), report(Status.SUCCEEDED, ""));
    assertThat(submit(queue, "unique", "k").duplicate()).isTrue();
  }

  @Test
  void of_two_submissions_at_the_same_moment_one_creates_the_task() {
    Queue queue = world.queue("demo", 5);
    List<Submitted> other = new ArrayList<>();
    // Between what the second one reads and its commit, the first one is committed.
    AtomicBoolean once = new AtomicBoolean();
    InvocationHandler racing =
        (_, method, arguments) -> {
          if (method.getName().equals("commit") && !once.getAndSet(true)) {
            other.add(submit(queue, "unique", "k"));
          }
          return method.invoke(world.store(), arguments);
        };
    TaskStore late =
        (TaskStore)
            Proxy.newProxyInstance(
                TaskStore.class.getClassLoader(), new Class<?>[] {TaskStore.class}, racing);
    List<Submitted> own = new ArrayList<>();
    Queues.in(late, world.clock(), new Random(9))
        .submission()
        .submit(queue, List.of(params("a"), params("b")), terms("unique", "k"), own::addAll);
    assertThat(other).hasSize(1);
    assertThat(other.getFirst().duplicate()).isFalse();
    assertThat(own).containsOnly(new Submitted(other.getFirst().id(), true)).hasSize(2);
    assertThat(world.queues().queues().counts(List.of(queue)).getFirst().queued()).isEqualTo(1);
  }

  @Test
  void a_key_is_held_after_a_crash_exactly_if_its_task_is_there() {
    Queue queue = world.queue("demo", 5);
    Submitted first = submit(queue, "unique", "k");
    world.restart();
    assertThat(world.task(first.id()).status()).isEqualTo(Status.QUEUED);
    assertThat(submit(queue, "unique", "k").id()).isEqualTo(first.id());
    world.queues().tasks().hold(first.id(), Status.CANCELLED, "");
    world.restart();
    assertThat(submit(queue, "unique", "k").duplicate()).isFalse();
  }
}
