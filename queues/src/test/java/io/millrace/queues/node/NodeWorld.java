package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.queues.node.Runners.RunnerException;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.RunRegistry;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.FaultyStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.work.Step;
import io.millrace.work.policy.Policy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A store and a few nodes in virtual time, stepped by the test. */
final class NodeWorld implements AutoCloseable {
  static final Duration LEASE = Duration.ofMinutes(5);

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  final TaskStore store =
      TaskStore.open(StoreOptions.in(Path.of("store")).withEnvironment(environment));
  private final List<Started> nodes = new ArrayList<>();
  final Queues queues = queuesOver(store);
  final Set<String> plugins = new HashSet<>(Set.of("work"));
  boolean storeIsThere = true;
  int calls;

  /** A node, what drives it, and its runners. */
  static final class Started {
    final ExecutionNode node;
    final RecordingRunners runners;
    private final Subscription news;
    private long dueNanos;
    private boolean paused;
    boolean ended;

    Started(ExecutionNode node, RecordingRunners runners, Subscription news) {
      this.node = node;
      this.runners = runners;
      this.news = news;
    }

    void pause(boolean on) {
      paused = on;
    }
  }

  /** A machine on which the processes named are alive. */
  record FakeMachine(String host, String process, Set<String> alive) implements Machine {
    @Override
    public boolean isAlive(String other) {
      return alive.contains(other);
    }

    @Override
    public boolean isOurs(String other) {
      return other.startsWith(host + "/");
    }
  }

  /** Runners that do what the test says. */
  static final class RecordingRunners implements Runners {
    final Map<ObjectId, Run> begun = new LinkedHashMap<>();
    final Set<ObjectId> stopped = new HashSet<>();
    final Set<ObjectId> survivors = new HashSet<>();
    Listener listener = new Nobody();
    boolean broken;
    boolean busy;
    int idle;
    int starting;
    boolean closed;
    int prepared;

    private static final class Nobody implements Listener {
      @Override
      public void ended(ObjectId task) {}

      @Override
      public void lost(ObjectId task, String reason) {}
    }

    /** The run of this task that was handed over last. */
    Run run(ObjectId task) {
      return Objects.requireNonNull(begun.get(task), () -> "task " + task + " was not begun");
    }

    @Override
    public Set<ObjectId> recover(Collection<Run> runs, Listener watcher) {
      listener = watcher;
      return Set.copyOf(survivors);
    }

    @Override
    public int starting() {
      return starting;
    }

    @Override
    public void prepare(NodeConfig config) {
      prepared++;
    }

    @Override
    public int idle(NodeConfig config) {
      return idle;
    }

    @Override
    public boolean offer(Run run, String plugin, NodeConfig config) {
      if (!busy) {
        begin(run, plugin, config);
      }
      return !busy;
    }

    @Override
    public void begin(Run run, String plugin, NodeConfig config) {
      if (broken) {
        throw new RunnerException("no memory for a process", new IllegalStateException());
      }
      begun.put(run.task(), run);
      idle = Math.max(0, idle - 1);
    }

    @Override
    public void stop(ObjectId task, Duration grace) {
      stopped.add(task);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private Queues queuesOver(TaskStore of) {
    return Queues.in(
        of, () -> Instant.ofEpochMilli(environment.wallMillis()), environment.newRandom());
  }

  private boolean reaches() {
    calls++;
    return storeIsThere;
  }

  static FakeMachine machine(String host) {
    return new FakeMachine(host, host + "/1 node", Set.of(host + "/1 node"));
  }

  Started start(String name, Machine machine) {
    return start(name, machine, new RecordingRunners());
  }

  Started start(String name, Machine machine, RecordingRunners runners) {
    FaultyStore.Faults faults =
        new FaultyStore.Faults() {
          @Override
          public boolean reaches() {
            return NodeWorld.this.reaches();
          }

          @Override
          public boolean answers() {
            return true;
          }
        };
    Queues seen = queuesOver(new FaultyStore(() -> store, faults));
    NodeOptions options = NodeOptions.of(name, name + nodes.size()).withLease(LEASE);
    ExecutionNode node = new ExecutionNode(options, seen, runners, () -> plugins, machine);
    Started started = new Started(node, runners, store.subscribe(Queues.interest()));
    node.wakeBy(() -> started.dueNanos = environment.nanos());
    nodes.add(started);
    run(Duration.ofMillis(10));
    return started;
  }

  /** Lets everything happen for a while. */
  void run(Duration time) {
    long end = environment.nanos() + time.toNanos();
    while (environment.nanos() < end) {
      nodes.forEach(this::step);
      environment.advance(Duration.ofMillis(1));
    }
  }

  private void step(Started started) {
    try {
      for (Commit commit = started.news.next(Duration.ZERO);
          commit != null;
          commit = started.news.next(Duration.ZERO)) {
        started.node.notice(commit);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    while (!started.paused && !started.ended && started.dueNanos <= environment.nanos()) {
      Instant due = started.node.step(Instant.EPOCH.plusNanos(environment.nanos()));
      started.ended = due.equals(Step.FINISHED);
      started.dueNanos = started.ended ? Long.MAX_VALUE : nanos(due);
    }
  }

  /** A time of the nodes' clock in nanoseconds; the largest number for never. */
  static long nanos(Instant time) {
    return time.equals(Step.NEVER)
        ? Long.MAX_VALUE
        : Duration.between(Instant.EPOCH, time).toNanos();
  }

  Queue queue(String name, int threads) {
    Queue.Settings settings = new Queue.Settings(threads, Sort.FIFO, List.of(), List.of(), 0);
    return queues.queues().create(name, "work", settings);
  }

  List<ObjectId> submit(Queue queue, int count) {
    List<ObjectNode> params = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      params.add(JsonNodeFactory.instance.objectNode().put("number", i));
    }
    return queues.submission().submit(queue, params, Status.QUEUED);
  }

  ObjectId submitLater(Queue queue, Duration delay) {
    List<ObjectId> created = new ArrayList<>();
    ObjectNode params = JsonNodeFactory.instance.objectNode().put("number", 0);
    queues
        .submission()
        .submit(
            queue,
            List.of(params),
            new Terms(Status.QUEUED, delay, null, Policy.NONE),
            some -> some.forEach(task -> created.add(task.id())));
    return created.getFirst();
  }

  /** Claims a task as a node does that ends before its claim is on record. */
  void claimWithoutRecord(Queue queue) {
    store.claim(Claim.of(Owner.client(7), "queues/" + queue.id(), RunRegistry.UNTIL_RECORDED));
  }

  QueueTask task(ObjectId id) {
    return queues.tasks().find(id).orElseThrow();
  }

  int threads(Queue queue) {
    return queue(queue).settings().limit();
  }

  /** A queue as it is now. */
  Queue queue(Queue queue) {
    return queues.queues().find(queue.id()).orElseThrow();
  }

  /** The store time. */
  long storeMillis() {
    return queues.nodes().list().timeMillis();
  }

  /** The runner of a task moves it to running. */
  Run startRun(Run run, String runner) {
    return queues.runs().start(run, runner, LEASE);
  }

  /** The runner of a task starts it and reports its end, and its node has not heard of it yet. */
  void startAndReport(Run run) {
    Run running = startRun(run, "runner");
    queues.runs().finish(running, new Report(Status.SUCCEEDED, TaskOutput.NONE, List.of(), null));
  }

  /** The runner of a task finishes it. */
  void finish(Started on, Run run) {
    startAndReport(run);
    on.runners.begun.remove(run.task());
    on.runners.listener.ended(run.task());
  }

  @Override
  public void close() {
    store.close();
  }
}
