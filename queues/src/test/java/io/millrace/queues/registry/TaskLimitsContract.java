package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.params;
import static io.millrace.queues.registry.QueuesFixture.policy;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Owner;
import io.millrace.store.Throttling;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.SharedLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/** Keys, priorities and limits of queue tasks, over any store; see {@link QueuesContract}. */
public abstract class TaskLimitsContract {
  private StoreFixture store;
  private QueuesFixture world;

  /** For subclasses. */
  protected TaskLimitsContract() {}

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

  private void submit(Queue queue, String command, String... settings) {
    Terms terms = new Terms(Status.QUEUED, Duration.ZERO, null, policy(settings));
    assertThat(world.submit(queue, terms, params(command))).hasSize(1);
  }

  private List<Run> claim(Queue queue, int most) {
    NodeRecord node = world.queues().nodes().find("n1").orElseGet(() -> world.node("n1"));
    return world.queues().runs().claim(node, queue, most, LEASE);
  }

  private QueueTask task(ObjectId id) {
    return world.queues().tasks().find(id).orElseThrow();
  }

  private List<String> commands(List<Run> runs) {
    return runs.stream().map(run -> task(run.task()).params().path("command").asString()).toList();
  }

  private Queue change(Queue queue, String field, String text) {
    return world
        .queues()
        .queues()
        .change(
            queue.id(),
            old ->
                new Change(
                    old.name(),
                    old.plugin(),
                    old.settings().withPolicy(old.settings().policy().with(Map.of(field, text)))))
        .orElseThrow();
  }

  private void finish(Run run, int status) {
    Run started = world.queues().runs().start(run, "7 mark", LEASE);
    world.queues().runs().finish(started, report(status, ""));
  }

  @Test
  void the_users_of_a_queue_take_turns() {
    Queue queue = world.queue("demo", 9, "key_field", "user");
    List<ObjectNode> tasks = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      tasks.add(params("a" + i).put("user", "ann"));
    }
    tasks.add(params("b1").put("user", "bob"));
    tasks.add(params("7").put("user", 7));
    assertThat(world.submit(queue, Terms.DEFAULTS, tasks.toArray(ObjectNode[]::new))).hasSize(6);
    assertThat(commands(claim(queue, 5))).containsExactly("a1", "b1", "7", "a2", "a3");
  }

  @Test
  void a_key_that_is_given_counts_more_than_a_param() {
    Queue queue = world.queue("demo", 9, "key_field", "user", "key_running", "1");
    submit(queue, "x1", "key", "same");
    submit(queue, "x2", "key", "same");
    assertThat(commands(claim(queue, 5))).containsExactly("x1");
    ObjectNode wrong = params("x");
    wrong.putObject("user");
    assertThatThrownBy(() -> world.submit(queue, Terms.DEFAULTS, wrong))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("user");
  }

  @Test
  void a_task_of_a_high_priority_is_run_first() {
    Queue queue = world.queue("demo", 9);
    submit(queue, "low");
    submit(queue, "high", "priority", "7");
    submit(queue, "middle", "priority", "3");
    assertThat(commands(claim(queue, 3))).containsExactly("high", "middle", "low");
  }

  @Test
  void no_more_tasks_of_a_key_run_than_its_limit_and_a_retry_keeps_the_key() {
    Queue queue = world.queue("demo", 9, "key_running", "1", "attempts", "2", "retry_delay", "0s");
    submit(queue, "a1", "key", "ann");
    submit(queue, "a2", "key", "ann");
    submit(queue, "free");
    List<Run> first = claim(queue, 5);
    assertThat(commands(first)).containsExactly("a1", "free");
    finish(first.getFirst(), Status.FAILED);
    List<Run> next = claim(queue, 5);
    assertThat(next).hasSize(1);
    assertThat(claim(queue, 5)).isEmpty();
    finish(next.getFirst(), Status.SUCCEEDED);
    assertThat(claim(queue, 5)).hasSize(1);
  }

  @Test
  void limits_can_be_changed_while_tasks_run_and_go_with_the_queue() {
    Queue queue = world.queue("demo", 9, "key_running", "1");
    submit(queue, "a1", "key", "ann");
    submit(queue, "a2", "key", "ann");
    submit(queue, "a3", "key", "ann");
    assertThat(claim(queue, 5)).hasSize(1);
    Queue changed = change(queue, "key_running", "2");
    assertThat(claim(changed, 5)).hasSize(1);
    assertThat(claim(change(queue, "key_running", ""), 5)).hasSize(1);
    assertThat(store.store().document(Throttling.ofGroup("queues/" + queue.id().hex())).value())
        .isEmpty();
    Queue other = world.queue("other", 9, "starts", "1/1h");
    var group = Throttling.ofGroup("queues/" + other.id().hex());
    assertThat(store.store().document(group).value()).isPresent();
    assertThat(world.queues().queues().delete(other.id())).isTrue();
    assertThat(store.store().document(group).value()).isEmpty();
  }

  @Test
  void queues_share_a_limit() {
    SharedLimits limits = new SharedLimits(store.store(), Owner.client(77));
    limits.put("gpu", SharedLimits.limit("starts", 2, ""));
    Queue one = world.queue("one", 9, "limits", "gpu");
    Queue two = world.queue("two", 9, "limits", "gpu");
    for (int i = 0; i < 3; i++) {
      submit(one, "one" + i);
      submit(two, "two" + i);
    }
    List<Run> first = claim(one, 1);
    List<Run> second = claim(two, 5);
    assertThat(first).hasSize(1);
    assertThat(second).hasSize(1);
    assertThat(claim(one, 5)).isEmpty();
    assertThat(limits.find("gpu").orElseThrow().used()).isEqualTo(2);
    assertThat(world.queues().queues().pauseForLimits(one)).isPresent();
    finish(second.getFirst(), Status.SUCCEEDED);
    assertThat(claim(one, 5)).hasSize(1);
    assertThat(limits.delete("gpu")).isTrue();
    assertThat(limits.delete("gpu")).isFalse();
    assertThat(claim(two, 5)).hasSize(2);
  }

  @Test
  void a_queue_starts_no_more_in_a_time_than_it_may() {
    Queue queue = world.queue("demo", 9, "starts", "2/1h");
    for (int i = 0; i < 3; i++) {
      submit(queue, "x" + i);
    }
    List<Run> runs = claim(queue, 9);
    assertThat(runs).hasSize(2);
    runs.forEach(run -> finish(run, Status.SUCCEEDED));
    assertThat(claim(queue, 9)).isEmpty();
    assertThat(world.queues().queues().pauseForLimits(queue)).isPresent();
    assertThat(world.queues().queues().pauseForLimits(world.queue("plain", 9))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "priority|10",
        "priority|-1",
        "priority|x",
        "starts|5",
        "starts|0/1m",
        "starts|5/0s",
        "starts|5/100d",
        "starts|5000/1ms",
        "key_running|0",
        "key_running|x",
        "key_starts|1/2/3",
        "ageing|30d",
        "ageing|soon",
        "weights|ann",
        "weights|ann=0",
        "weights|ann=1001",
        "weights|=3",
        "limits|a b",
        "limits|a,a",
        "limits|a,,b"
      })
  void settings_that_cannot_be_are_refused_by_name(String field, String text) {
    assertThatThrownBy(() -> new Policy(Map.of(field, text)))
        .isInstanceOf(PolicyException.class)
        .hasMessageContaining(field);
  }
}
