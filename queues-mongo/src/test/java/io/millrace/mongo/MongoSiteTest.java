package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three nodes of ours and an old one share a database, and nodes and runners are killed, while the
 * server works or fails.
 */
class MongoSiteTest {
  private static final Logger LOG = LoggerFactory.getLogger(MongoSiteTest.class);
  private static final Document CLAIMED_BY_OLD =
      new Document("node", "old").append("status", Status.CLAIMED);
  private static final int TASKS = 100;
  private static final int THREADS = 6;
  private static final Duration LONGEST = Duration.ofMinutes(2);

  private final Map<String, Integer> worked = new ConcurrentHashMap<>();
  private final AtomicInteger turns = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void every_task_ends_once_and_those_of_the_old_node_are_its_own(boolean failing)
      throws InterruptedException {
    try (TestDatabase database = new TestDatabase()) {
      org.bson.types.ObjectId queue = OldNode.queue(database, "q", THREADS, "fifo");
      for (int i = 0; i < TASKS; i++) {
        OldNode.task(database, queue, new Document("n", i));
      }
      OldNode old = new OldNode(database, "old");
      old.refresh();
      database.loseNextAnswer();
      assertThatThrownBy(() -> old.claim(queue)).isInstanceOf(MongoException.class);
      Document unheard = database.collection("tasks").find(CLAIMED_BY_OLD).first();
      assertThat(unheard).isNotNull();

      AtomicBoolean over = new AtomicBoolean();
      Thread working = Thread.startVirtualThread(() -> work(old, queue, over));
      List<SimpleRunners> runners = new ArrayList<>();
      Deque<OurNode> nodes = new ArrayDeque<>();
      try {
        for (String name : List.of("b", "c", "a")) {
          runners.add(new SimpleRunners(database));
          nodes.add(new OurNode(database, name, "1", runners.getLast()));
        }
        if (failing) {
          database.failInTurn(40, 6);
        }
        long end = System.nanoTime() + LONGEST.toNanos();
        while (worked.size() < TASKS / 4 && System.nanoTime() < end) {
          LockSupport.parkNanos(1_000_000);
        }
        nodes.getLast().kill();
        nodes.add(new OurNode(database, "a", "2", runners.getLast()));
        while (left(database) > 0 && System.nanoTime() < end) {
          LockSupport.parkNanos(20_000_000);
        }
        assertThat(left(database)).isZero();
        assertThat(database.isWell()).isTrue();
      } finally {
        over.set(true);
        working.join();
        nodes.forEach(OurNode::kill);
        runners.forEach(SimpleRunners::close);
      }
      Set<String> ended = new HashSet<>();
      for (Document task : database.collection("tasks").find()) {
        String id = task.getObjectId("_id").toHexString();
        int status = task.getInteger("status");
        boolean byOld = "old".equals(task.getString("node"));
        if (byOld && status == Status.CLAIMED) {
          // It does not know of this claim, and will orphan it; nobody else has.
          assertThat(worked).doesNotContainKey(id);
          continue;
        }
        assertThat(status).as("task " + id).isIn(byOld ? List.of(1) : List.of(1, Status.ORPHANED));
        if (status == 1) {
          assertThat(task.getString("stdout")).isEqualTo(byOld ? "old" : "ours");
        }
        assertThat(worked.get(id)).as("times that task " + id + " was worked on").isEqualTo(1);
        ended.add(task.getString("node"));
      }
      assertThat(database.collection("tasks").find(CLAIMED_BY_OLD)).contains(unheard);
      // One that is killed early may have had no task.
      assertThat(ended).contains("old").isSubsetOf("a", "b", "c", "old").hasSizeGreaterThan(1);
    }
  }

  private static long left(TestDatabase database) {
    try {
      return database
          .collection("tasks")
          .countDocuments(
              new Document("status", new Document("$in", List.of(-2, -1, 0)))
                  .append("$nor", List.of(CLAIMED_BY_OLD)));
    } catch (MongoException e) {
      return TASKS;
    }
  }

  private void work(OldNode node, org.bson.types.ObjectId queue, AtomicBoolean over) {
    while (!over.get()) {
      try {
        node.refresh();
        node.claim(queue)
            .filter(node::begin)
            .ifPresent(task -> {
              worked.merge(task.getObjectId("_id").toHexString(), 1, Integer::sum);
              node.finish(task, 1, "old");
            });
      } catch (MongoException e) {
        LOG.debug("the old node goes on in its next round", e);
      }
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
