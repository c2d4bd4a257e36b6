package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueRegistry;
import io.millrace.queues.QueueSettings;
import io.millrace.queues.Queues;
import io.millrace.queues.QueuesException;
import io.millrace.queues.Report;
import io.millrace.queues.Run;
import io.millrace.queues.Sort;
import io.millrace.queues.Status;
import io.millrace.queues.TaskOutput;
import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Interest;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A hundred nodes and one store in virtual time. Nodes are killed at any call of the store, stand
 * still and start again; runners die; lines break, answers are lost; the server goes and comes
 * back. All of it follows from one seed.
 */
final class NodeSimulation {
  private static final int NODES = 100;
  private static final int QUEUES = 8;
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final long TROUBLE_NANOS = Duration.ofSeconds(25).toNanos();
  private static final long END_NANOS = Duration.ofSeconds(400).toNanos();

  private final SplittableRandom random;
  private final SimulatedEnvironment environment;
  private final StoreOptions options;
  private final Queues operator;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final List<ObjectId> queues = new ArrayList<>();
  private final Referee referee = new Referee();
  private EmbeddedTaskStore store;
  private Subscription news;
  private boolean down;
  private long upAtNanos;
  private boolean trouble = true;
  private int depth;
  private int tasksLeft = 300;

  NodeSimulation(long seed) {
    SplittableRandom seeds = new SplittableRandom(seed);
    environment = new SimulatedEnvironment(seeds.nextLong());
    random = seeds.split();
    options = StoreOptions.in(Path.of("store")).withEnvironment(environment);
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
    operator = queuesOver(() -> !down, () -> true);
    for (int i = 0; i < QUEUES; i++) {
      queues.add(operator.queues().create("queue-" + i, "work", settings()).id());
    }
    for (int i = 0; i < NODES; i++) {
      Queues seen = queuesOver(this::reaches, this::nodeAnswers);
      Queues ofRunners = queuesOver(this::reaches, this::runnerAnswers);
      SimulatedHost host =
          new SimulatedHost("host-" + i, ofRunners, environment::nanos, random.split(), LEASE);
      SimulatedNode node =
          new SimulatedNode("node-" + i, host, seen, environment::nanos, random.split());
      node.start(LEASE);
      nodes.add(node);
    }
  }

  private interface Answer {
    boolean given();
  }

  private Queues queuesOver(Answer reaches, Answer answers) {
    FaultyStore.Line line =
        new FaultyStore.Line() {
          @Override
          public boolean reaches() {
            return reaches.given();
          }

          @Override
          public boolean answers() {
            return answers.given();
          }
        };
    TaskStore seen = new FaultyStore(() -> store, line);
    return Queues.in(seen, () -> Instant.ofEpochMilli(environment.wallMillis()), random.split());
  }

  /** Pins and limits, so that every kind of queue occurs. */
  private QueueSettings settings() {
    List<String> pinned = new ArrayList<>();
    int from = random.nextInt(NODES);
    for (int i = 0; i < 12; i++) {
      pinned.add("node-" + (from + i) % NODES);
    }
    Sort sort = List.of(Sort.values()).get(random.nextInt(3));
    return random.nextInt(4) == 0
        ? new QueueSettings(random.nextInt(1, 9), sort, List.of(), pinned, random.nextInt(3))
        : new QueueSettings(
            random.nextInt(1, 9), sort, pinned, List.of("node-1"), random.nextInt(3));
  }

  private boolean reaches() {
    meanwhile();
    return !down && !(trouble && random.nextInt(400) == 0);
  }

  private boolean nodeAnswers() {
    if (trouble && random.nextInt(600) == 0) {
      throw new SimulatedNode.NodeKilled();
    }
    return !(trouble && random.nextInt(200) == 0);
  }

  private boolean runnerAnswers() {
    return !(trouble && random.nextInt(100) == 0);
  }

  /** Others do something between two calls of one. */
  private void meanwhile() {
    if (depth < 2 && random.nextInt(20) == 0) {
      SimulatedNode other = nodes.get(random.nextInt(nodes.size()));
      if (other.isAlive() && !other.isBusy()) {
        depth++;
        other.step();
        depth--;
      }
    }
  }

  void run() {
    long nextOperation = 0;
    long nextSweep = 0;
    while (!isOver()) {
      long now = environment.nanos();
      if (trouble && now > TROUBLE_NANOS) {
        endTrouble();
      }
      Referee.require(now < END_NANOS, "not all tasks end: " + referee.statuses());
      if (now >= nextOperation) {
        nextOperation = now + random.nextLong(1, 150_000_000);
        if (trouble) {
          operate();
        }
      }
      if (down && now >= upAtNanos) {
        serverComesBack();
      }
      if (now >= nextSweep && !down) {
        nextSweep = now + 1_000_000_000L;
        sweep();
      }
      stepAll(now);
      deliver();
      long next = Math.min(nextOperation, nextSweep);
      for (SimulatedNode node : nodes) {
        next = Math.min(next, node.dueNanos());
        for (SimulatedRunner runner : node.host().runners()) {
          next = Math.min(next, runner.dueNanos());
        }
      }
      environment.advance(Duration.ofNanos(Math.max(next - now, 5_000_000)));
    }
  }

  private void stepAll(long now) {
    int from = random.nextInt(NODES);
    for (int i = 0; i < NODES; i++) {
      SimulatedNode node = nodes.get((from + i) % NODES);
      if (node.dueNanos() <= now) {
        node.step();
        deliver();
      }
      for (SimulatedRunner runner : List.copyOf(node.host().runners())) {
        if (runner.dueNanos() <= now) {
          runner.step(now);
          deliver();
        }
      }
    }
  }

  /** Shows everybody what was committed. */
  private void deliver() {
    if (down) {
      return;
    }
    try {
      for (Commit commit = news.next(Duration.ZERO);
          commit != null;
          commit = news.next(Duration.ZERO)) {
        referee.see(commit);
        checkWork();
        Commit heard = of(commit);
        if (!heard.changes().isEmpty()) {
          nodes.forEach(node -> node.notice(heard));
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Commit of(Commit commit) {
    Interest interest = Queues.interest();
    return new Commit(
        commit.position(),
        commit.timeMillis(),
        commit.client(),
        commit.override(),
        commit.changes().stream().filter(interest::includes).toList());
  }

  /** No two processes work on one task. */
  private void checkWork() {
    Set<ObjectId> worked = new HashSet<>();
    for (SimulatedNode node : nodes) {
      for (SimulatedRunner runner : node.host().runners()) {
        if (runner.isWorking()) {
          Referee.require(worked.add(runner.run().task()), "two work on " + runner.run().task());
        }
      }
    }
  }

  private void operate() {
    SimulatedNode node = nodes.get(random.nextInt(NODES));
    switch (random.nextInt(18)) {
      case 0 -> node.die();
      case 1 -> node.stop();
      case 2 -> node.pause(Duration.ofMillis(random.nextLong(8_000)));
      case 3, 4, 5 -> {
        for (SimulatedNode each : nodes) {
          if (!each.isAlive()) {
            each.start(LEASE);
            break;
          }
        }
      }
      case 6 -> node.hears(!node.hears());
      case 7 -> killRunner();
      case 8 -> node.host().cannotStart(random.nextInt(20) == 0);
      case 9 -> {
        if (!down && random.nextInt(10) == 0) {
          serverGoes();
        }
      }
      default -> {
        if (!down) {
          operateQueues(node);
        }
      }
    }
  }

  private void killRunner() {
    for (SimulatedNode each : nodes) {
      if (!each.host().runners().isEmpty() && random.nextInt(3) == 0) {
        each.host().killOne();
        return;
      }
    }
  }

  private void operateQueues(SimulatedNode node) {
    ObjectId queue = queues.get(random.nextInt(QUEUES));
    switch (random.nextInt(8)) {
      case 0 -> limit(queue, random.nextInt(6));
      case 1 ->
          operator
              .nodes()
              .limit(
                  node.host().host().replace("host", "node"),
                  random.nextInt(4) == 0 ? null : random.nextInt(4));
      case 2 ->
          operator
              .queues()
              .change(
                  queue,
                  old ->
                      new QueueRegistry.Change(
                          old.name(),
                          random.nextInt(4) == 0 ? "missing" : "other",
                          old.settings()));
      case 3 -> disturbTask();
      default -> submit(queue);
    }
  }

  private void limit(ObjectId queue, int threads) {
    operator
        .queues()
        .change(
            queue,
            old ->
                new QueueRegistry.Change(
                    old.name(), old.plugin(), old.settings().withThreads(threads)));
  }

  private void submit(ObjectId id) {
    Queue queue = operator.queues().find(id).orElseThrow();
    List<ObjectNode> params = new ArrayList<>();
    for (int i = 0; i < random.nextInt(1, 12) && tasksLeft > 0; i++, tasksLeft--) {
      params.add(JsonNodeFactory.instance.objectNode().put("number", tasksLeft));
    }
    if (!params.isEmpty()) {
      operator.tasks().submit(queue, params, Status.QUEUED);
    }
  }

  private void disturbTask() {
    List<String> ids = List.copyOf(referee.statuses().keySet());
    if (ids.isEmpty()) {
      return;
    }
    ObjectId task = new ObjectId(ids.get(random.nextInt(ids.size())));
    try {
      switch (random.nextInt(3)) {
        case 0 -> operator.tasks().terminate(task);
        case 1 -> operator.tasks().hold(task, Status.CANCELLED, "");
        default -> operator.tasks().requeue(task);
      }
    } catch (QueuesException _) {
      // It is not in a state for that.
    }
  }

  private void sweep() {
    for (Run run : operator.runs().lapsed()) {
      operator
          .runs()
          .orphan(
              run, new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), "its claim ran out"));
    }
  }

  private void serverGoes() {
    deliver();
    down = true;
    upAtNanos = environment.nanos() + random.nextLong(15_000_000_000L);
    store.close();
  }

  private void serverComesBack() {
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
    down = false;
    operator.runs().reviveAll(LEASE);
    nodes.forEach(node -> {
      if (node.hears()) {
        node.hears(true);
      }
    });
  }

  private void endTrouble() {
    trouble = false;
    if (down) {
      serverComesBack();
    }
    for (SimulatedNode node : nodes) {
      node.host().cannotStart(false);
      if (!node.isAlive()) {
        node.start(LEASE);
      }
      node.hears(true);
      operator.nodes().limit(node.host().host().replace("host", "node"), random.nextInt(1, 4));
    }
    for (ObjectId queue : queues) {
      operator
          .queues()
          .change(
              queue,
              old -> new QueueRegistry.Change(old.name(), "work", old.settings().withThreads(4)));
    }
  }

  private boolean isOver() {
    return !trouble
        && referee.runsUnderWay() == 0
        && referee.statuses().values().stream()
            .noneMatch(s -> s == Status.QUEUED || Status.isActive(s));
  }

  String summary() {
    return referee.statuses().size()
        + " tasks, "
        + referee.claims()
        + " claims, "
        + environment.nanos() / 1_000_000_000L
        + " s";
  }
}
