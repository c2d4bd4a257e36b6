package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.HttpTaskStore;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.Owner;
import io.millrace.store.Throttling;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.SharedLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Nodes, runners and a server that are killed at random while they work. {@code
 * -Dmillrace.nodekill.tasks=20000} makes it longer, {@code -Dmillrace.nodekill.seed=N} repeats its
 * choices.
 */
@Timeout(900)
class NodeKillTest {
  private static final int TASKS = Integer.getInteger("millrace.nodekill.tasks", 700);
  private static final long SEED = Long.getLong("millrace.nodekill.seed", System.nanoTime());
  private static final int KILLS = Math.max(6, TASKS / 250);
  private static final int THREADS = 8;
  private static final List<String> NODES = List.of("a", "b", "c");

  @Test
  void tasks_end_once_and_within_the_limit_though_nodes_are_killed(
      @TempDir Path root, TestReporter reporter) throws Exception {
    reporter.publishEntry("seed", String.valueOf(SEED));
    Path log = root.resolve("runs");
    try (KillFixture site = new KillFixture(root);
        HttpTaskStore store = site.connect()) {
      Queues queues = KillFixture.queues(store);
      List<ObjectId> tasks = submit(queues, log);
      assertThat(queues.nodes().all()).as("nodes of a server without one").isEmpty();
      for (String node : NODES) {
        site.startNode(node);
      }
      int runners = killAmong(site, queues, tasks, new SplittableRandom(SEED));
      site.awaitEnds(tasks);
      Map<ObjectId, QueueTask> ended =
          tasks.stream()
              .map(task -> queues.tasks().find(task).orElseThrow())
              .collect(Collectors.toMap(QueueTask::id, Function.identity()));

      reporter.publishEntry("statuses", counts(ended).toString());
      reporter.publishEntry("killed", KILLS + " times, with " + runners + " runners");
      assertThat(runners).as("runners killed").isPositive();
      assertThat(queues.nodes().all())
          .extracting(NodeRecord::name)
          .containsExactlyElementsOf(NODES);
      assertThat(queues.runs().all()).as("runs on record").isEmpty();
      check(RunLog.read(log), ended, reporter);
      site.stop();
      assertThat(Program.speakingOf(root)).as("processes left").isEmpty();
    }
  }

  @Test
  void a_node_that_is_killed_while_it_waits_for_room_leaves_the_line_at_once(@TempDir Path root)
      throws Exception {
    Path open = root.resolve("open");
    try (KillFixture site = new KillFixture(root);
        HttpTaskStore store = site.connect()) {
      Queues queues = KillFixture.queues(store);
      new SharedLimits(store, Owner.client(7)).put("shared", new Throttling.Limit(1, 0, 0));
      Queue queue =
          queues
              .queues()
              .create(
                  "work",
                  "shell",
                  Queue.Settings.DEFAULTS.withThreads(9).withPolicy(Policy.parse("limits=shared")));
      String waits = "until [ -e '" + open + "' ]; do sleep 0.05; done";
      var params = JsonNodeFactory.instance.objectNode().put("command", waits);
      site.startNode("a");
      await(() -> queues.nodes().limit("a", 1).isPresent());
      List<ObjectId> tasks =
          queues.submission().submit(queue, Collections.nCopies(2, params), Status.QUEUED);
      await(() -> !queues.runs().all().isEmpty());
      assertThat(site.claimsWaiting()).isZero();
      site.startNode("b");
      await(() -> site.claimsWaiting() == 1);
      site.killNodeForGood("b");
      long killedNanos = System.nanoTime();
      await(() -> site.claimsWaiting() == 0);
      // A claim that nobody withdraws waits for 20 s.
      assertThat(System.nanoTime() - killedNanos).isLessThan(10_000_000_000L);
      Files.createFile(open);
      site.awaitEnds(tasks);
      assertThat(tasks)
          .allSatisfy(task ->
              assertThat(queues.tasks().find(task).orElseThrow().progress().node()).isEqualTo("a"));
      site.stop();
    }
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      LockSupport.parkNanos(20_000_000);
    }
  }

  private static List<ObjectId> submit(Queues queues, Path log) {
    Queue queue =
        queues.queues().create("work", "shell", Queue.Settings.DEFAULTS.withThreads(THREADS));
    var params = JsonNodeFactory.instance.objectNode().put("command", RunLog.command(log));
    return queues.submission().submit(queue, Collections.nCopies(TASKS, params), Status.QUEUED);
  }

  /**
   * Kills something each time that one of the next tasks has ended, and the server once; gives how
   * many runners were hit.
   */
  private static int killAmong(
      KillFixture site, Queues queues, List<ObjectId> tasks, SplittableRandom random)
      throws Exception {
    int runners = 0;
    for (int kill = 1; kill <= KILLS; kill++) {
      int from = tasks.size() * (kill - 1) / KILLS;
      site.awaitEnds(List.of(tasks.get(from + random.nextInt(tasks.size() / KILLS))));
      String node = NODES.get(random.nextInt(NODES.size()));
      if (kill == KILLS / 2) {
        site.killServer();
      } else if (kill % 3 == 2) {
        runners += site.killNodeAndRunners(busy(queues).orElse(node));
      } else {
        site.killNode(node);
      }
    }
    return runners;
  }

  /** A node that runs something, so that a kill hits that too. */
  private static Optional<String> busy(Queues queues) {
    return queues.runs().all().stream()
        .filter(run -> run.status() == Status.RUNNING)
        .map(Run::node)
        .findFirst();
  }

  private static Map<Integer, Integer> counts(Map<ObjectId, QueueTask> ended) {
    Map<Integer, Integer> counts = new TreeMap<>();
    ended.values().forEach(task -> counts.merge(task.status(), 1, Integer::sum));
    return counts;
  }

  private static void check(RunLog log, Map<ObjectId, QueueTask> ended, TestReporter reporter) {
    for (QueueTask task : ended.values()) {
      List<RunLog.Span> runs = log.of(task.id());
      assertThat(task.status()).as("%s", task).isIn(Status.SUCCEEDED, Status.ORPHANED);
      assertThat(runs).as("the runs of %s", task).hasSizeLessThanOrEqualTo(1);
      if (task.status() == Status.SUCCEEDED) {
        assertThat(runs).as("the runs of %s", task).hasSize(1);
        assertThat(runs).noneMatch(run -> run.endMicros() == RunLog.Span.CUT);
      }
    }
    int most =
        log.mostAtOnce(
            task -> Objects.requireNonNull(ended.get(task)).progress().mtimeMillis() * 1_000);
    reporter.publishEntry("most at once", String.valueOf(most));
    assertThat(most).as("tasks at once, seed %s", SEED).isBetween(1, THREADS);
  }
}
