package io.millrace.queues;

import static io.millrace.queues.QueuesFixture.LEASE;
import static io.millrace.queues.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Blob;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue.Counts;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.store.testkit.contract.StoreFixture;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a sweeper does over any store whose time can be moved. */
public abstract class SweeperContract {
  private StoreFixture store;
  private QueuesFixture world;
  private Queue queue;
  private NodeRecord node;

  /** For subclasses. */
  protected SweeperContract() {}

  /** An empty open store, whose time can be moved; called once for each test. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path folder) {
    store = open();
    world = new QueuesFixture(store, folder);
    queue = world.queue("demo", 1);
    node = world.node("n1");
  }

  @AfterEach
  void end() {
    store.close();
  }

  private Run claim() {
    return world.queues().runs().claim(node, queue, 1, LEASE).getFirst();
  }

  private Run start() {
    return world.queues().runs().start(claim(), "7 mark", LEASE);
  }

  private void sweep() {
    world.sweeper(Sweeper.Settings.DEFAULTS).step(world.clock().instant());
  }

  private void store(Run run, String name, int chunk, String content) {
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), name);
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    world.blobs().put(prefix + chunk, new ByteArrayInputStream(bytes));
  }

  private List<String> blobs() {
    try (Stream<Blob> all = world.blobs().list("")) {
      return all.map(Blob::name).sorted().toList();
    }
  }

  @Test
  void a_task_claimed_and_never_started_is_orphaned_after_five_minutes() {
    ObjectId id = world.submit(queue, 1).getFirst();
    claim();
    world.advance(LEASE.minusMillis(1));
    sweep();
    assertThat(world.task(id).status()).isEqualTo(Status.CLAIMED);
    world.advance(Duration.ofMillis(1));
    sweep();
    assertThat(world.task(id).status()).isEqualTo(Status.ORPHANED);
    assertThat(world.task(id).progress().reason()).contains("never started");
    assertThat(world.queues().runs().all()).isEmpty();
  }

  @Test
  void a_running_task_is_orphaned_when_its_claim_runs_out_and_keeps_the_output_that_there_is() {
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = start();
    store(run, "stdout", 0, "half of it");
    world.advance(LEASE);
    sweep();
    QueueTask task = world.task(id);
    assertThat(task.status()).isEqualTo(Status.ORPHANED);
    assertThat(task.output().stderr()).isEqualTo(Output.none());
    Output.Stored stdout = (Output.Stored) task.output().stdout();
    OutputFile file = world.queues().file(stdout.file()).orElseThrow();
    assertThat(file.sizeBytes()).isEqualTo(10);
    sweep();
    assertThat(blobs()).containsExactly(file.chunkPrefix() + 0);
    assertThatThrownBy(() -> world.queues().runs().finish(run, report(1, "late")))
        .isInstanceOf(LostClaimException.class);
    world.queues().tasks().requeue(id);
    sweep();
    assertThat(blobs()).isEmpty();
    assertThat(world.queues().file(stdout.file())).isEmpty();
  }

  @Test
  void a_renewed_claim_is_left_alone() {
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = start();
    for (int i = 0; i < 3; i++) {
      world.advance(LEASE.minusMillis(1));
      world.queues().runs().renew(run, LEASE);
      sweep();
    }
    assertThat(world.task(id).status()).isEqualTo(Status.RUNNING);
  }

  @Test
  void a_node_that_claims_what_ran_out_orphans_it_with_its_output_and_does_not_run_it_again() {
    ObjectId id = world.submit(queue, 1).getFirst();
    store(start(), "stdout", 0, "half of it");
    world.advance(LEASE);
    OutputRecovery recovery = OutputRecovery.from(world.blobs(), world.queues());
    assertThat(world.queues().runs().claim(node, queue, 1, LEASE, recovery)).isEmpty();
    assertThat(world.task(id).status()).isEqualTo(Status.ORPHANED);
    Output.Stored stdout = (Output.Stored) world.task(id).output().stdout();
    assertThat(stdout.sizeBytes()).isEqualTo(10);
    sweep();
    assertThat(blobs()).hasSize(1);
  }

  @Test
  void a_queue_may_have_its_orphans_queued_again_so_many_times() {
    Queue.Settings settings = new Queue.Settings(1, Sort.FIFO, List.of(), List.of(), 2);
    queue = world.queues().queues().create("again", "shell", settings);
    ObjectId id = world.submit(queue, 1).getFirst();
    for (int i = 1; i <= 2; i++) {
      start();
      world.advance(LEASE);
      sweep();
      assertThat(world.task(id).status()).isEqualTo(Status.QUEUED);
      assertThat(world.task(id).progress().orphaned()).isEqualTo(i);
    }
    start();
    world.advance(LEASE);
    sweep();
    assertThat(world.task(id).status()).isEqualTo(Status.ORPHANED);
  }

  @Test
  void an_orphan_that_was_to_be_terminated_is_terminated() {
    ObjectId id = world.submit(queue, 1).getFirst();
    start();
    world.queues().tasks().terminate(id);
    world.advance(LEASE);
    sweep();
    assertThat(world.task(id).status()).isEqualTo(Status.TERMINATED);
    assertThat(world.queues().runs().isToStop(id)).isFalse();
  }

  @Test
  void after_a_start_of_the_server_leases_run_anew() {
    ObjectId id = world.submit(queue, 2).getFirst();
    Run run = start();
    world.advance(LEASE.multipliedBy(3));
    world.restart();
    world.queues().runs().reviveAll(LEASE);
    assertThat(world.queues().runs().claim(node, queue, 1, LEASE)).isEmpty();
    world.advance(LEASE.minusMillis(1));
    sweep();
    assertThat(world.task(id).status()).isEqualTo(Status.RUNNING);
    world.queues().runs().finish(run, report(1, "survived"));
    assertThat(world.task(id).status()).isEqualTo(1);
  }

  @Test
  void old_finished_tasks_move_into_the_archive() throws IOException {
    ObjectId id = world.submit(queue, 1).getFirst();
    world.queues().runs().finish(start(), report(1, "done"));
    sweep();
    assertThat(blobs()).isEmpty();
    world.advance(Sweeper.Settings.DEFAULTS.keepFinished().plusMillis(1));
    sweep();
    assertThat(world.queues().tasks().find(id)).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue))).containsExactly(new Counts(0, 0, 0));
    String name = blobs().getFirst();
    assertThat(name).startsWith("queue-archive-");
    try (InputStream lines = world.blobs().open(name)) {
      assertThat(new String(lines.readAllBytes(), StandardCharsets.UTF_8))
          .contains(id.hex(), "\"stdout\":\"done\"")
          .endsWith("\n");
    }
    Archive archived = Archive.in(world.blobs());
    QueueTask found = Objects.requireNonNull(archived.find(List.of(id)).get(id));
    assertThat(found.output().stdout()).isEqualTo(new Output.Text("done"));
    assertThat(archived.find(List.of(node.id(), queue.id()))).isEmpty();
  }
}
