package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** By how much the limit of a queue can be exceeded by nodes that claim at the same time. */
class MongoLimitTest {
  private static final Logger LOG = LoggerFactory.getLogger(MongoLimitTest.class);
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final int THREADS = 4;
  private static final int TASKS = 60;

  /** How many tasks run, and how often that many did when one began. */
  private static final class Gauge {
    private final AtomicInteger running = new AtomicInteger();
    private final Map<Integer, Integer> seen = new ConcurrentHashMap<>();

    void begun() {
      seen.merge(running.incrementAndGet(), 1, Integer::sum);
    }

    void ended() {
      running.decrementAndGet();
    }

    int most() {
      return new TreeMap<>(seen).lastKey();
    }
  }

  @Test
  void nodes_of_ours_keep_the_limit_together() throws InterruptedException {
    assertThat(run(4, 0).most()).isLessThanOrEqualTo(THREADS);
  }

  @Test
  void each_old_node_exceeds_it_by_one_at_most_if_it_counts_before_each_claim()
      throws InterruptedException {
    assertThat(run(0, 4).most()).isLessThanOrEqualTo(THREADS + 4);
    assertThat(run(3, 2).most()).isLessThanOrEqualTo(THREADS + 2);
  }

  private Gauge run(int ours, int theirs) throws InterruptedException {
    Gauge gauge = new Gauge();
    try (TestDatabase database = new TestDatabase()) {
      org.bson.types.ObjectId queue = OldNode.queue(database, "q", THREADS, "fifo");
      for (int i = 0; i < TASKS; i++) {
        OldNode.task(database, queue, new Document("n", i));
      }
      AtomicInteger left = new AtomicInteger(TASKS);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < ours; i++) {
        String name = "ours" + i;
        threads.add(Thread.startVirtualThread(() -> ofOurs(database, name, queue, left, gauge)));
      }
      for (int i = 0; i < theirs; i++) {
        OldNode node = new OldNode(database, "old" + i);
        threads.add(Thread.startVirtualThread(() -> old(node, queue, left, gauge)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(database.collection("tasks").countDocuments(new Document("status", 1)))
          .isEqualTo(TASKS);
    }
    LOG.info(
        "{} nodes of ours and {} of Disbatch, threads {}: so many ran when one began: {}",
        ours,
        theirs,
        THREADS,
        new TreeMap<>(gauge.seen));
    return gauge;
  }

  private static void old(
      OldNode node, org.bson.types.ObjectId queue, AtomicInteger left, Gauge gauge) {
    Deque<Document> running = new ArrayDeque<>();
    while (left.get() > 0) {
      Optional<Document> claimed = node.claim(queue);
      claimed.ifPresent(task -> {
        gauge.begun();
        assertThat(node.begin(task)).isTrue();
        running.add(task);
      });
      if (claimed.isEmpty() && !running.isEmpty()) {
        gauge.ended();
        node.finish(running.remove(), 1, "old");
        left.decrementAndGet();
      }
    }
  }

  private static void ofOurs(
      TestDatabase database,
      String name,
      org.bson.types.ObjectId id,
      AtomicInteger left,
      Gauge gauge) {
    try (MongoQueues queues = database.node(name)) {
      NodeRecord node =
          queues
              .nodes()
              .take(name, null, new NodeIdentity(name, "here", name, List.copyOf(Set.of("demo"))))
              .orElseThrow();
      Queue queue = queues.queues().find(BsonForm.id(id)).orElseThrow();
      Deque<Started> running = new ArrayDeque<>();
      while (left.get() > 0) {
        for (Run run : queues.runs().claim(node, queue, 3, LEASE, OutputRecovery.NOTHING)) {
          try {
            Started started = queues.runs().begin(run, name, LEASE);
            gauge.begun();
            running.add(started);
          } catch (LostClaimException _) {
            // It cannot be: nobody else gives it back.
            throw new AssertionError("a claim was lost");
          }
        }
        if (!running.isEmpty()) {
          gauge.ended();
          queues
              .runs()
              .finish(
                  running.remove(),
                  new Report(
                      1, new TaskOutput(new Output.Text("ours"), Output.none()), List.of(), null));
          left.decrementAndGet();
        }
      }
    }
  }
}
