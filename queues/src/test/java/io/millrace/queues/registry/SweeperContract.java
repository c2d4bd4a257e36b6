package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.Blob;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Counts;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Retention;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
    world.close();
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
    OutputRecovery recovery = OutputRecovery.from(world.blobs(), world.queues()::newId);
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
  void old_finished_tasks_move_into_the_archive() {
    ObjectId id = world.submit(queue, 1).getFirst();
    world.queues().runs().finish(start(), report(1, "done"));
    sweep();
    assertThat(blobs()).isEmpty();
    Retention month = new Retention(Duration.ofDays(30), null);
    world.archive(month);
    assertThat(world.queues().tasks().find(id)).isPresent();
    world.advance(Duration.ofDays(30).plusMillis(1));
    world.archive(month);
    assertThat(world.queues().tasks().find(id)).isEmpty();
    assertThat(world.queues().queues().counts(List.of(queue))).containsExactly(new Counts(0, 0, 0));
    TaskArchive archived = world.archived();
    QueueTask found = Objects.requireNonNull(archived.find(List.of(id)).get(id));
    assertThat(found.output().stdout()).isEqualTo(new Output.Text("done"));
    assertThat(archived.find(List.of(node.id(), queue.id()))).isEmpty();
  }

  @Test
  void the_files_of_archived_output_stay_and_have_no_documents() {
    ObjectId id = world.submit(queue, 1).getFirst();
    Run run = start();
    store(run, "stdout", 0, "much output");
    store(run, "stderr", 0, "of a late runner");
    String prefix = OutputFile.prefix(id, run.claim().token(), "stdout");
    OutputFile file = new OutputFile(world.queues().newId(), id, "stdout", 11, prefix);
    TaskOutput output = new TaskOutput(new Output.Stored(file.id(), 11, true), Output.none());
    world.queues().runs().finish(run, new Report(1, output, List.of(file), null));
    world.advance(Duration.ofHours(2));
    world.archive(new Retention(Duration.ofHours(1), null));
    assertThat(world.queues().file(file.id())).isEmpty();
    sweep();
    assertThat(blobs()).containsExactly(prefix + "0");
    QueueTask archived = Objects.requireNonNull(world.archived().find(List.of(id)).get(id));
    OutputReader reader = world.queues().output(world.blobs());
    assertThat(reader.text((Output.Stored) archived.output().stdout())).contains("much output");
  }

  @Test
  void a_queue_keeps_as_many_finished_tasks_as_its_settings_say_at_the_time() {
    List<ObjectId> ids = world.submit(queue, 5);
    for (int i = 0; i < 4; i++) {
      world.queues().runs().finish(start(), report(1 + i % 2, "done"));
      world.advance(Duration.ofSeconds(1));
    }
    world.archive(Retention.FOREVER);
    assertThat(world.archived().find(ids)).isEmpty();
    world
        .queues()
        .queues()
        .change(
            queue.id(),
            change ->
                new QueueBackend.Change(
                    change.name(),
                    change.plugin(),
                    change.settings().withPolicy(QueuesFixture.policy("keep_count", "1"))));
    world.archive(Retention.FOREVER);
    assertThat(world.archived().find(ids)).containsOnlyKeys(ids.subList(0, 3));
    assertThat(world.task(ids.get(3)).status()).isEqualTo(2);
    assertThat(world.task(ids.get(4)).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void a_task_that_is_queued_again_while_it_is_archived_stays_in_the_store() {
    ObjectId id = world.submit(queue, 1).getFirst();
    world.queues().runs().finish(start(), report(2, "failed"));
    ArchiveSource source = world.queues().retention(new Retention(null, 0L), Duration.ofSeconds(1));
    List<String> ids = new ArrayList<>();
    for (List<ArchiveRow> part : source.due(world.clock().instant(), 10).parts()) {
      part.forEach(row -> ids.add(row.id()));
    }
    assertThat(ids).containsExactly(id.hex());
    world.queues().tasks().requeue(id);
    assertThat(source.remove(ids)).containsExactly(id.hex());
    assertThat(source.present(List.of(id.hex(), queue.id().hex()))).containsExactly(id.hex());
    assertThat(world.task(id).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void archives_of_earlier_versions_are_read() {
    ObjectId id = world.queues().newId();
    String line =
        """
        {"queue":"%s","status":1,"node":"n1","ctime":1,"mtime":2,"params":{},"stdout":"old",\
        "stderr":null,"task":7,"_id":"%s"}
        """
            .formatted(queue.id().hex(), id.hex());
    world
        .blobs()
        .put(
            "queue-archive-" + world.queues().newId().hex() + ".jsonl",
            new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)));
    QueueTask found = Objects.requireNonNull(world.archived().find(List.of(id)).get(id));
    assertThat(found.output().stdout()).isEqualTo(new Output.Text("old"));
    List<ObjectId> all = new ArrayList<>();
    world.archived().each(List.of(), true, task -> all.add(task.id()));
    assertThat(all).containsExactly(id);
  }
}
