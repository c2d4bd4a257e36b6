package io.millrace.queues.registry;

import static io.millrace.queues.registry.QueuesFixture.LEASE;
import static io.millrace.queues.registry.QueuesFixture.report;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.queues.registry.AttemptWatch.End;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is told of the attempts at queue tasks. */
class AttemptWatchTest {
  private final SettableTimeEnvironment environment =
      new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1)));
  private final StoreFixture store = new EmbeddedFixture(environment, environment::advance);
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private QueuesFixture world;

  @BeforeEach
  void begin(@TempDir Path folder) {
    world = new QueuesFixture(store, folder);
  }

  @AfterEach
  void end() {
    world.close();
    store.close();
  }

  /** A watch that has begun, as the end of a run of another queue shows. */
  private AttemptWatch watch() throws InterruptedException {
    Queue probe = world.queue("probe", 1);
    Semaphore seen = new Semaphore(0);
    AttemptWatch watch = world.queues().attempts(new Told(probe.id(), seen));
    world.submit(probe, 1);
    RunRegistry runs = world.queues().runs();
    do {
      runs.giveBack(runs.claim(node("probe"), probe, 1, LEASE).getFirst());
    } while (!seen.tryAcquire(20, TimeUnit.MILLISECONDS));
    return watch;
  }

  /** Notes what is told of all queues but one, of which it counts the ends. */
  private final class Told implements AttemptWatch.Observer {
    private final ObjectId probe;
    private final Semaphore seen;

    Told(ObjectId probe, Semaphore seen) {
      this.probe = probe;
      this.seen = seen;
    }

    @Override
    public void startedFirst(Run run, long waitedMillis) {
      told.add("started after " + waitedMillis);
    }

    @Override
    public void ended(Run run, End end, long ranMillis) {
      if (run.queue().equals(probe)) {
        seen.release();
      } else {
        told.add(end.word() + " after " + ranMillis);
      }
    }
  }

  private NodeRecord node(String name) {
    return world.queues().nodes().find(name).orElseGet(() -> world.node(name));
  }

  private String next() throws InterruptedException {
    String line = told.poll(30, TimeUnit.SECONDS);
    assertThat(line).isNotNull();
    return line;
  }

  private Run start(Queue queue) {
    RunRegistry runs = world.queues().runs();
    Run run = runs.claim(node("n1"), queue, 1, LEASE).getFirst();
    world.advance(Duration.ofMillis(5));
    return runs.start(run, "7 mark", LEASE);
  }

  @Test
  void attempts_are_told_with_their_times_and_ends() throws Exception {
    try (AttemptWatch watch = watch()) {
      Queue queue = world.queue("demo", 5);
      world.submit(queue, 3);
      int[] statuses = {Status.SUCCEEDED, Status.FAILED, 17};
      String[] ends = {"succeeded", "failed", "finished"};
      for (int i = 0; i < statuses.length; i++) {
        Run run = start(queue);
        assertThat(next()).isEqualTo("started after " + (5 + 12 * i));
        assertThat(watch.activeByNode()).isEqualTo(Map.of("n1", 1L));
        world.advance(Duration.ofMillis(7));
        world.queues().runs().finish(run, report(statuses[i], "out"));
        assertThat(next()).isEqualTo(ends[i] + " after 7");
        assertThat(watch.activeByNode()).isEmpty();
      }
    }
  }

  @Test
  void attempts_that_are_repeated_say_why() throws Exception {
    try (AttemptWatch _ = watch()) {
      Queue queue = world.queue("demo", 5, "attempts", "3");
      world.submit(queue, 1);
      Run failing = start(queue);
      assertThat(next()).startsWith("started");
      world.queues().runs().finish(failing, report(Status.FAILED, "no"));
      assertThat(next()).startsWith("retried");

      world.advance(Duration.ofHours(1));
      Run snoozing = start(queue);
      world
          .queues()
          .runs()
          .finish(
              snoozing,
              new Report(
                  Status.FAILED,
                  TaskOutput.NONE,
                  List.of(),
                  null,
                  new RetryWish.Snooze(Duration.ofSeconds(1))));
      assertThat(next()).startsWith("snoozed");

      world.advance(Duration.ofHours(1));
      Run lost = start(queue);
      world.advance(LEASE.plusSeconds(1));
      assertThat(world.queues().runs().orphan(lost, report(Status.ORPHANED, ""))).isPresent();
      assertThat(next()).startsWith("orphaned");
    }
  }

  @Test
  void runs_from_before_the_watch_are_known() throws Exception {
    Queue queue = world.queue("demo", 5);
    world.submit(queue, 1);
    Run run = start(queue);
    try (AttemptWatch watch = watch()) {
      assertThat(watch.activeByNode()).containsEntry("n1", 1L);
      world.advance(Duration.ofMillis(7));
      world.queues().runs().finish(run, report(Status.SUCCEEDED, "out"));
      assertThat(next()).isEqualTo("succeeded after 7");
    }
  }
}
