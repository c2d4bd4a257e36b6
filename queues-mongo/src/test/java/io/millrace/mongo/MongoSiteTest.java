package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoException;
import io.millrace.mongo.TestDatabase.Fault;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.Machine;
import io.millrace.queues.node.NodeDriver;
import io.millrace.queues.node.NodeOptions;
import io.millrace.queues.node.Runners;
import io.millrace.work.StepLoop;
import io.millrace.work.Watch;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Three nodes of ours and an old one share a database, and nodes and runners are killed. */
class MongoSiteTest {
  private static final int TASKS = 100;
  private static final int THREADS = 6;
  private static final Duration LONGEST = Duration.ofMinutes(2);

  private final Map<String, Integer> worked = new ConcurrentHashMap<>();
  private final AtomicInteger turns = new AtomicInteger();

  @Test
  void every_task_ends_once() throws InterruptedException {
    try (TestDatabase database = new TestDatabase()) {
      org.bson.types.ObjectId queue = OldNode.queue(database, "q", THREADS, "fifo");
      List<ObjectId> ids = new ArrayList<>();
      for (int i = 0; i < TASKS; i++) {
        ids.add(BsonForm.id(OldNode.task(database, queue, new Document("n", i))));
      }
      AtomicBoolean over = new AtomicBoolean();
      Thread old = Thread.startVirtualThread(() -> work(new OldNode(database, "old"), queue, over));
      SimpleRunners ofA = new SimpleRunners(database);
      SimpleRunners ofB = new SimpleRunners(database);
      SimpleRunners ofC = new SimpleRunners(database);
      OurNode a = new OurNode(database, "a", "1", ofA);
      OurNode b = new OurNode(database, "b", "1", ofB);
      OurNode c = new OurNode(database, "c", "1", ofC);
      OurNode again = null;
      try (Watch<ObjectId, QueueTask> tasks = b.queues.watch(ids)) {
        long end = System.nanoTime() + LONGEST.toNanos();
        while (tasks.pending() > 0 && System.nanoTime() < end) {
          if (again == null && tasks.pending() < TASKS) {
            a.kill();
            again = new OurNode(database, "a", "2", ofA);
          }
          tasks.await(Duration.ofSeconds(1));
        }
        assertThat(tasks.pending()).isZero();
      } finally {
        over.set(true);
        old.join();
        a.kill();
        b.kill();
        c.kill();
        if (again != null) {
          again.kill();
        }
        List.of(ofA, ofB, ofC).forEach(SimpleRunners::close);
      }
      assertThat(again).isNotNull();
      Set<String> nodes = new HashSet<>();
      for (Document task : database.collection("tasks").find()) {
        String id = task.getObjectId("_id").toHexString();
        assertThat(task.getInteger("status")).as("task " + id).isIn(1, Status.ORPHANED);
        assertThat(worked.get(id)).as("times that task " + id + " was worked on").isEqualTo(1);
        nodes.add(task.getString("node"));
      }
      // One that is killed early may have had no task.
      assertThat(nodes).contains("old").isSubsetOf("a", "b", "c", "old").hasSizeGreaterThan(1);
    }
  }

  /** Not with an old node: it does not survive a failure of the database. */
  @Test
  void every_task_ends_once_while_the_server_is_away_late_or_steps_down()
      throws InterruptedException {
    try (TestDatabase database = new TestDatabase()) {
      org.bson.types.ObjectId queue = OldNode.queue(database, "q", THREADS, "fifo");
      for (int i = 0; i < TASKS; i++) {
        OldNode.task(database, queue, new Document("n", i));
      }
      SimpleRunners ofA = new SimpleRunners(database);
      SimpleRunners ofB = new SimpleRunners(database);
      OurNode a = new OurNode(database, "a", "1", ofA);
      OurNode b = new OurNode(database, "b", "1", ofB);
      Deque<Fault> faults = new ArrayDeque<>(List.of(Fault.values()));
      long end = System.nanoTime() + LONGEST.toNanos();
      try {
        long left = left(database);
        while (left > 0 && System.nanoTime() < end) {
          if (!faults.isEmpty() && left < TASKS * (faults.size() + 1) / 6) {
            database.fail(faults.remove(), 6);
          }
          LockSupport.parkNanos(20_000_000);
          left = left(database);
        }
        assertThat(left).isZero();
        assertThat(faults).isEmpty();
        assertThat(database.isWell()).isTrue();
      } finally {
        a.kill();
        b.kill();
        ofA.close();
        ofB.close();
      }
      for (Document task : database.collection("tasks").find()) {
        String id = task.getObjectId("_id").toHexString();
        assertThat(task.getInteger("status")).as("task " + id).isIn(1, Status.ORPHANED);
        assertThat(worked.get(id)).as("times that task " + id + " was worked on").isEqualTo(1);
      }
    }
  }

  private static long left(TestDatabase database) {
    try {
      return database
          .collection("tasks")
          .countDocuments(new Document("status", new Document("$in", List.of(-2, -1, 0))));
    } catch (MongoException e) {
      return TASKS;
    }
  }

  private void work(OldNode node, org.bson.types.ObjectId queue, AtomicBoolean over) {
    while (!over.get()) {
      node.refresh();
      node.claim(queue)
          .filter(node::begin)
          .ifPresent(task -> {
            worked.merge(task.getObjectId("_id").toHexString(), 1, Integer::sum);
            node.finish(task, 1, "old");
          });
      // A round of an old node is a second; this one is quicker.
      LockSupport.parkNanos(20_000_000);
    }
  }

  /** A node of ours, which can be killed: then it does no more steps, and its runners go on. */
  private static final class OurNode {
    private final MongoQueues queues;
    private final StepLoop loop;
    private final NodeDriver.News news;

    OurNode(TestDatabase database, String name, String process, SimpleRunners runners) {
      this.queues = database.node(process);
      AtomicReference<ExecutionNode> self = new AtomicReference<>();
      ExecutionNode node =
          new ExecutionNode(
              NodeOptions.of(name, name + process),
              queues,
              MongoQueues.withBells(runners, signal -> self.get().notice(signal)),
              () -> Set.of("Disbatch::Plugin::Demo"),
              new TestMachine(process));
      self.set(node);
      loop = StepLoop.start("node " + name, InstantSource.system(), node);
      node.wakeBy(loop::wake);
      news = queues.news(node, name);
    }

    void kill() {
      news.close();
      loop.close();
      queues.close();
    }
  }

  /** A machine on which only this process is alive. */
  private record TestMachine(String process) implements Machine {
    @Override
    public String host() {
      return "here";
    }

    @Override
    public boolean isAlive(String other) {
      return other.equals(process);
    }

    @Override
    public boolean isOurs(String other) {
      return true;
    }
  }

  /** Runners of which some die before they begin, and some at their work. */
  private final class SimpleRunners implements Runners {
    private final MongoQueues queues;
    private final Set<ObjectId> busy = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Listener listener;

    SimpleRunners(TestDatabase database) {
      this.queues = database.node("runners");
    }

    @Override
    public Set<ObjectId> recover(Collection<Run> runs, Listener told) {
      Set<ObjectId> found = new HashSet<>();
      runs.stream().map(Run::task).filter(busy::contains).forEach(found::add);
      listener = told;
      return found;
    }

    private Listener listener() {
      return Objects.requireNonNull(listener);
    }

    @Override
    public void begin(Run run, String plugin, NodeConfig config) {
      busy.add(run.task());
      Thread.startVirtualThread(() -> work(run));
    }

    private void work(Run run) {
      int turn = turns.incrementAndGet();
      if (turn % 10 == 0) {
        end(run);
        listener().lost(run.task(), "died before it began");
        return;
      }
      try {
        Started started =
            answered(() -> queues.runs().begin(run, "77 start", Duration.ofMinutes(5)));
        worked.merge(run.task().hex(), 1, Integer::sum);
        if (turn % 11 == 0) {
          end(run);
          listener().lost(run.task(), "died at its work");
          return;
        }
        TaskOutput output = new TaskOutput(new Output.Text("ours"), Output.none());
        answered(() -> queues.runs().finish(started, new Report(1, output, List.of(), null)));
      } catch (LostClaimException _) {
        // Its node has given it back.
      }
      end(run);
      listener().ended(run.task());
    }

    /** As a runner does, for as long as the database does not answer. */
    private static <T> T answered(Supplier<T> call) {
      while (true) {
        try {
          return call.get();
        } catch (UnreachableException e) {
          LockSupport.parkNanos(5_000_000);
        }
      }
    }

    private void end(Run run) {
      busy.remove(run.task());
    }

    @Override
    public void stop(ObjectId task, Duration grace) {}

    @Override
    public void close() {
      queues.close();
    }
  }
}
