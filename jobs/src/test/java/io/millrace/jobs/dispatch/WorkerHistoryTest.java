package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerManager.WorkerOptions;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is known of workers after a restart. */
class WorkerHistoryTest {
  private final Path folder;
  private VirtualWorkers world;

  WorkerHistoryTest(@TempDir Path folder) {
    this.folder = folder;
    world = new VirtualWorkers(folder);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private WorkerManager restarted() {
    WorkerManager manager = world.manager();
    manager.recall();
    return manager;
  }

  private int stored() {
    return world.store().documents(new DocumentQuery("jobs.workers", "", "", 50)).value().size();
  }

  @Test
  void a_worker_is_listed_after_a_restart_as_it_was_last_seen() {
    world.advance(Duration.ofSeconds(7));
    TestLine line = TestLine.ready(world.workers, "w");
    world.submit("k");
    world.settle();
    line.result("r");
    world.advance(Duration.ofSeconds(3));
    line.pong();
    world.workers.save(true);

    WorkerManager after = restarted();

    WorkerView view = after.find("w").orElseThrow();
    assertThat(after.list()).containsExactly(view);
    assertThat(view.name()).isEqualTo("n");
    assertThat(view.state()).isEqualTo(WorkerView.State.DISCONNECTED);
    assertThat(view.tally()).isEqualTo(new WorkerView.Tally(1, 0));
    assertThat(view.seen()).isEqualTo(new WorkerView.Seen(7_000, 10_000));
    assertThat(after.count(WorkerView.State.READY)).isZero();

    TestLine.ready(after, "w");
    assertThat(after.list()).hasSize(1);
    assertThat(after.find("w").orElseThrow().state()).isEqualTo(WorkerView.State.READY);
    assertThat(after.find("w").orElseThrow().tally().succeeded()).isEqualTo(1);
  }

  @Test
  void without_an_orderly_stop_the_last_sign_is_known_to_the_minute() {
    TestLine line = TestLine.ready(world.workers, "w");
    world.workers.save(false);
    for (int second = 0; second < 70; second += 5) {
      world.advance(Duration.ofSeconds(5));
      line.pong();
      world.workers.save(false);
    }
    assertThat(restarted().find("w").orElseThrow().seen().last()).isEqualTo(60_000);
    line.breakOff();
    world.workers.save(false);
    assertThat(restarted().find("w").orElseThrow().seen().last()).isEqualTo(70_000);
  }

  @Test
  void a_worker_that_an_old_version_has_counted_keeps_its_figures() throws Exception {
    String name =
        HexFormat.of()
            .formatHex(
                MessageDigest.getInstance("SHA-256")
                    .digest("old".getBytes(StandardCharsets.UTF_8)));
    Transaction put =
        Transaction.by(Owner.client(1))
            .put(
                new DocumentKey("jobs.workers", name),
                DocumentVersion.ABSENT,
                Bytes.of("{\"id\":\"old\",\"succeeded\":4,\"failed\":2}"))
            .build();
    world.store().commit(put).done();
    WorkerManager after = restarted();
    assertThat(after.list()).isEmpty();
    assertThat(after.find("old")).isEmpty();
    TestLine.ready(after, "old");
    assertThat(after.find("old").orElseThrow().tally()).isEqualTo(new WorkerView.Tally(4, 2));
  }

  @Test
  void of_many_workers_the_last_are_listed_and_those_that_did_nothing_forgotten() {
    TestLine busy = TestLine.ready(world.workers, "busy");
    world.submit("k");
    world.settle();
    busy.result("r");
    world.settle();
    busy.breakOff();
    for (int i = 0; i < 1_010; i++) {
      TestLine.ready(world.workers, "w-" + i).breakOff();
    }
    world.workers.save(false);
    assertThat(world.workers.list()).hasSize(1_000);
    assertThat(world.workers.find("w-0")).isEmpty();
    assertThat(world.workers.find("busy").orElseThrow().tally().succeeded()).isEqualTo(1);
    WorkerManager after = restarted();
    assertThat(after.list()).hasSize(1_000);
    assertThat(after.find("busy").orElseThrow().tally().succeeded()).isEqualTo(1);
  }

  @Test
  void without_tracking_nothing_of_workers_is_stored() {
    world.close();
    WorkerOptions all = VirtualWorkers.OPTIONS;
    world =
        new VirtualWorkers(
            FileBlobStore.open(folder),
            JobTypes.NONE,
            new WorkerOptions(
                all.registration(), all.token(), false, all.stuckAfter(), all.keepalive()));
    TestLine line = TestLine.ready(world.workers, "w");
    line.breakOff();
    world.workers.save(true);
    assertThat(world.workers.list()).hasSize(1);
    assertThat(stored()).isZero();
    assertThat(restarted().list()).isEqualTo(List.of());
  }
}
