package io.millrace.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue.Settings;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.registry.ConfigRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What every home of queues does for nodes, runners and the command interface. */
public abstract class QueueBackendContract {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** An empty home, the same during a test. */
  protected abstract QueueBackend backend();

  /** Whether a claim ends with its lease, for which {@link #advance} lets time pass. */
  protected boolean hasLeases() {
    return false;
  }

  /** Lets time pass, if it {@linkplain #hasLeases() has leases}. */
  protected void advance(Duration time) {
    throw new UnsupportedOperationException("there are no leases here");
  }

  /** Whether a claim and the check of the limit are one step. */
  protected boolean checksLimitAsItClaims() {
    return false;
  }

  private Queue queue(int threads, Sort sort) {
    return backend()
        .queues()
        .create("mail", "site-plugin", new Settings(threads, sort, List.of(), List.of(), 0));
  }

  private List<ObjectId> submit(Queue queue, int tasks) {
    List<ObjectNode> params = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      params.add(JsonNodeFactory.instance.objectNode().put("number", i));
    }
    List<ObjectId> ids = new ArrayList<>();
    backend()
        .submission()
        .submit(queue, params, Terms.DEFAULTS, some -> some.forEach(task -> ids.add(task.id())));
    return ids;
  }

  private NodeRecord node(String name) {
    return backend().nodes().take(name, null, presence(name)).orElseThrow();
  }

  private static NodeIdentity presence(String instance) {
    return new NodeIdentity(instance, "here", "77 start", List.of("demo"));
  }

  private List<Run> claim(NodeRecord node, Queue queue, int most) {
    return backend().runs().claim(node, queue, most, LEASE, OutputRecovery.NOTHING);
  }

  private static Report report(int status, String stdout) {
    return new Report(
        status, new TaskOutput(new Output.Text(stdout), new Output.Text("")), List.of(), null);
  }

  private int status(ObjectId task) {
    return backend().tasks().find(task).orElseThrow().status();
  }

  @Test
  void a_queue_is_found_by_id_and_by_name_until_it_is_deleted() {
    Queue queue = queue(3, Sort.LIFO);

    assertThat(backend().queues().find(queue.id())).contains(queue);
    assertThat(backend().queues().find("mail")).contains(queue);
    assertThat(backend().queues().find(queue.id().hex())).contains(queue);
    assertThat(queue.settings().threads()).isEqualTo(3);
    assertThat(backend().queues().delete(queue.id())).isTrue();
    assertThat(backend().queues().delete(queue.id())).isFalse();
    assertThat(backend().queues().find("mail")).isEmpty();
  }

  @Test
  void the_name_of_a_queue_is_taken_once() {
    queue(1, Sort.FIFO);

    assertThatThrownBy(() -> queue(1, Sort.FIFO)).isInstanceOf(InvalidRequestException.class);
    assertThat(backend().queues().all()).hasSize(1);
  }

  @Test
  void a_change_of_a_queue_leaves_what_it_does_not_name() {
    Queue queue = queue(1, Sort.LIFO);

    Queue changed =
        backend()
            .queues()
            .change(
                queue.id(), old -> new Change("post", old.plugin(), old.settings().withThreads(9)))
            .orElseThrow();

    assertThat(changed.name()).isEqualTo("post");
    assertThat(changed.settings()).isEqualTo(queue.settings().withThreads(9));
    assertThat(backend().queues().find("post").orElseThrow().settings())
        .isEqualTo(changed.settings());
  }

  @Test
  void tasks_are_claimed_in_the_order_of_the_queue_within_its_threads() {
    Queue queue = queue(2, Sort.FIFO);
    List<ObjectId> ids = submit(queue, 3);
    NodeRecord node = node("one");

    List<Run> runs = claim(node, queue, 10);

    assertThat(runs).extracting(Run::task).containsExactly(ids.get(0), ids.get(1));
    assertThat(claim(node, queue, 10)).isEmpty();
    assertThat(backend().queues().counts(List.of(queue)))
        .containsExactly(new Queue.Counts(1, 2, 0));
    QueueTask task = backend().tasks().find(ids.getFirst()).orElseThrow();
    assertThat(task.status()).isEqualTo(Status.CLAIMED);
    assertThat(task.progress().node()).isEqualTo("one");
    assertThat(backend().runs().ofNode("one")).extracting(Run::task).containsAll(ids.subList(0, 2));
    assertThat(backend().runs().ofNode("two")).isEmpty();
  }

  @Test
  void the_newest_task_comes_first_if_the_queue_says_so() {
    Queue queue = queue(5, Sort.LIFO);
    List<ObjectId> ids = submit(queue, 3);

    assertThat(claim(node("one"), queue, 1)).extracting(Run::task).containsExactly(ids.get(2));
  }

  @Test
  void a_task_runs_and_ends_once_however_often_it_is_reported() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectId id = submit(queue, 1).getFirst();
    Run run = claim(node("one"), queue, 1).getFirst();

    Started started = backend().runs().begin(run, "77 start", LEASE);
    assertThat(status(id)).isEqualTo(Status.RUNNING);
    assertThat(started.task().params().path("number").asInt(-1)).isZero();
    backend().runs().renew(started.run(), LEASE);
    backend().runs().finish(started, report(3, "done"));
    QueueTask again = backend().runs().finish(started, report(3, "done"));

    assertThat(again.status()).isEqualTo(3);
    assertThat(again.output().stdout()).isEqualTo(new Output.Text("done"));
    assertThat(again.progress().node()).isEqualTo("one");
    assertThatThrownBy(() -> backend().runs().finish(started, report(1, "other")))
        .isInstanceOf(LostClaimException.class);
    assertThat(status(id)).isEqualTo(3);
  }

  @Test
  void a_start_may_be_repeated() {
    Queue queue = queue(1, Sort.FIFO);
    submit(queue, 1);
    Run run = claim(node("one"), queue, 1).getFirst();

    backend().runs().begin(run, "77 start", LEASE);

    assertThat(backend().runs().begin(run, "77 start", LEASE).run().status())
        .isEqualTo(Status.RUNNING);
  }

  @Test
  void a_task_that_was_given_back_is_for_anybody_and_its_claim_is_over() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectId id = submit(queue, 1).getFirst();
    Run run = claim(node("one"), queue, 1).getFirst();

    assertThat(backend().runs().giveBack(run)).isTrue();

    assertThat(status(id)).isEqualTo(Status.QUEUED);
    assertThat(backend().tasks().find(id).orElseThrow().progress().node()).isNull();
    assertThat(claim(node("two"), queue, 1)).hasSize(1);
    assertThatThrownBy(() -> backend().runs().begin(run, "77 start", LEASE))
        .isInstanceOf(LostClaimException.class);
    assertThat(backend().runs().giveBack(run)).isFalse();
  }

  @Test
  void an_orphan_is_not_run_again_and_its_runner_reports_in_vain() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectId id = submit(queue, 1).getFirst();
    Run run = claim(node("one"), queue, 1).getFirst();
    Started started = backend().runs().begin(run, "77 start", LEASE);
    Report lost = new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), "its runner is gone");

    assertThat(backend().runs().orphan(started.run(), lost)).isPresent();

    assertThat(status(id)).isEqualTo(Status.ORPHANED);
    assertThatThrownBy(() -> backend().runs().finish(started, report(1, "late")))
        .isInstanceOf(LostClaimException.class);
    assertThatThrownBy(() -> backend().runs().renew(started.run(), LEASE))
        .isInstanceOf(LostClaimException.class);
    assertThat(claim(node("two"), queue, 1)).isEmpty();
  }

  @Test
  void a_run_that_is_not_renewed_loses_its_task_with_its_lease() {
    assumeTrue(
        hasLeases(), "there are no leases: a task stays with its runner, however late it is");
    Queue queue = queue(2, Sort.FIFO);
    List<ObjectId> ids = submit(queue, 2);
    Run run = claim(node("one"), queue, 1).getFirst();
    Started started = backend().runs().begin(run, "77 start", LEASE);

    advance(LEASE.plusSeconds(1));
    NodeRecord two = node("two");
    List<Run> next = new ArrayList<>(claim(two, queue, 2));
    next.addAll(claim(two, queue, 2));

    assertThat(next).extracting(Run::task).containsExactly(ids.get(1));
    assertThat(status(ids.getFirst())).isEqualTo(Status.ORPHANED);
    assertThatThrownBy(() -> backend().runs().finish(started, report(1, "late")))
        .isInstanceOf(LostClaimException.class);
  }

  @Test
  void a_node_that_has_not_heard_of_a_lower_limit_claims_nothing() {
    assumeTrue(
        checksLimitAsItClaims(),
        "limit and claim are two steps: a node claims by the limit that it has read last");
    Queue before = queue(2, Sort.FIFO);
    submit(before, 2);
    Settings lower = before.settings().withThreads(0);
    backend().queues().change(before.id(), old -> new Change(old.name(), old.plugin(), lower));

    assertThat(claim(node("one"), before, 2)).isEmpty();
    assertThat(backend().queues().counts(List.of(before)))
        .containsExactly(new Queue.Counts(2, 0, 0));
  }

  @Test
  void an_operator_holds_a_waiting_task_and_queues_it_again() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectId id = submit(queue, 1).getFirst();

    assertThat(backend().tasks().hold(id, Status.CANCELLED, "")).isPresent();
    assertThat(claim(node("one"), queue, 1)).isEmpty();
    assertThat(backend().tasks().requeue(id)).isPresent();
    assertThatThrownBy(() -> backend().tasks().requeue(id)).isInstanceOf(TaskStateException.class);
    assertThat(backend().tasks().terminate(id).orElseThrow().status()).isEqualTo(Status.TERMINATED);
    assertThat(backend().tasks().hold(new ObjectId("0".repeat(24)), -5, "")).isEmpty();
  }

  @Test
  void the_end_of_a_running_task_is_requested_and_reported() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectId id = submit(queue, 1).getFirst();
    Run run = claim(node("one"), queue, 1).getFirst();
    Started started = backend().runs().begin(run, "77 start", LEASE);
    assertThat(backend().runs().isToStop(id)).isFalse();

    backend().tasks().terminate(id);
    assertThat(backend().runs().isToStop(id)).isTrue();
    QueueTask ended = backend().runs().finish(started, report(Status.TERMINATED, "so far"));

    assertThat(ended.status()).isEqualTo(Status.TERMINATED);
    assertThat(ended.output().stdout()).isEqualTo(new Output.Text("so far"));
  }

  @Test
  void a_name_belongs_to_one_process_until_it_is_given_back() {
    NodeRecord first = node("one");
    QueueBackend.Nodes nodes = backend().nodes();

    assertThat(nodes.take("one", null, presence("other"))).isEmpty();
    NodeRecord fresh = nodes.refresh(first, presence("one")).orElseThrow();
    assertThat(fresh.isHeldBy("one")).isTrue();
    assertThat(nodes.refresh(first, presence("other"))).isEmpty();
    assertThat(nodes.limit("one", 4).orElseThrow().maxthreads()).isEqualTo(4);
    assertThatThrownBy(() -> nodes.remove("one")).isInstanceOf(InvalidRequestException.class);
    nodes.leave(fresh, "one");

    NodeRecord left = nodes.find("one").orElseThrow();
    assertThat(left.presence()).isNull();
    assertThat(left.maxthreads()).isEqualTo(4);
    assertThat(nodes.take("one", left, presence("other")).orElseThrow().isHeldBy("other")).isTrue();
    assertThat(nodes.findByIdOrName(left.id().hex()).orElseThrow().name()).isEqualTo("one");
  }

  @Test
  void the_configuration_of_a_node_takes_precedence() {
    Queue queue = queue(1, Sort.FIFO);
    ObjectNode all = JsonNodeFactory.instance.objectNode();
    all.putArray("ignorequeues").add("mail");
    backend().config().set(ConfigRegistry.ALL, all);
    ObjectNode own = JsonNodeFactory.instance.objectNode();
    own.putArray("ignorequeues");
    backend().config().set("one", own);

    assertThat(backend().config().forNode("one").serves("one", queue)).isTrue();
    assertThat(backend().config().forNode("two").serves("two", queue)).isFalse();
    assertThat(backend().config().allFields()).hasSize(2);
    assertThatThrownBy(() ->
            backend()
                .config()
                .set("one", JsonNodeFactory.instance.objectNode().put("log_level", "loud")))
        .isInstanceOf(InvalidRequestException.class);
  }
}
