package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.FaultyStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A hundred nodes, their runners, one server and the lines between them, in virtual time. Everybody
 * is stepped from outside; what breaks, and when, follows from one seed.
 */
final class SimulatedSite {
  static final int NODES = 100;
  private static final int QUEUES = 8;
  private static final Duration LEASE = Duration.ofSeconds(20);

  private final SplittableRandom random;
  private final SimulatedEnvironment environment;
  private final StoreOptions options;
  private final Queues operator;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final List<ObjectId> queues = new ArrayList<>();
  private final NodeChecks checks;
  private EmbeddedTaskStore store;
  private Subscription news;
  private boolean down;
  private long upAtNanos;
  private boolean trouble = true;
  private int depth;

  /** With {@code checks}, which see every commit. */
  SimulatedSite(long seed, NodeChecks checks) {
    this.checks = checks;
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

  SplittableRandom random() {
    return random;
  }

  List<SimulatedNode> nodes() {
    return nodes;
  }

  /** The queues by id. */
  List<ObjectId> queues() {
    return queues;
  }

  /** The queues as somebody sees them whose line never breaks. */
  Queues operator() {
    return operator;
  }

  long nanos() {
    return environment.nanos();
  }

  void advance(Duration time) {
    environment.advance(time);
  }

  boolean isDown() {
    return down;
  }

  /** Whether things still break. */
  boolean isInTrouble() {
    return trouble;
  }

  private interface Answer {
    boolean given();
  }

  private Queues queuesOver(Answer reaches, Answer answers) {
    FaultyStore.Faults faults =
        new FaultyStore.Faults() {
          @Override
          public boolean reaches() {
            return reaches.given();
          }

          @Override
          public boolean answers() {
            return answers.given();
          }
        };
    TaskStore seen = new FaultyStore(() -> store, faults);
    return Queues.in(seen, () -> Instant.ofEpochMilli(environment.wallMillis()), random.split());
  }

  /** Pins and limits, so that every kind of queue occurs. */
  private Queue.Settings settings() {
    List<String> pinned = new ArrayList<>();
    int from = random.nextInt(NODES);
    for (int i = 0; i < 12; i++) {
      pinned.add("node-" + (from + i) % NODES);
    }
    Sort sort = List.of(Sort.values()).get(random.nextInt(3));
    return random.nextInt(4) == 0
        ? new Queue.Settings(random.nextInt(1, 9), sort, List.of(), pinned, random.nextInt(3))
        : new Queue.Settings(
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

  void start(SimulatedNode node) {
    node.start(LEASE);
  }

  /** Starts the server again where its time has come. */
  void bringBack() {
    if (down && nanos() >= upAtNanos) {
      serverComesBack();
    }
  }

  /** Steps everybody who wants to be stepped by now. */
  void stepAll(long now) {
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

  /** When somebody wants to be stepped next. */
  long dueNanos() {
    long next = Long.MAX_VALUE;
    for (SimulatedNode node : nodes) {
      next = Math.min(next, node.dueNanos());
      for (SimulatedRunner runner : node.host().runners()) {
        next = Math.min(next, runner.dueNanos());
      }
    }
    return next;
  }

  /** Shows everybody what was committed. */
  void deliver() {
    if (down) {
      return;
    }
    try {
      for (Commit commit = news.next(Duration.ZERO);
          commit != null;
          commit = news.next(Duration.ZERO)) {
        checks.see(commit, nodes);
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

  /** What the server does about ended claims. */
  void sweep() {
    for (Run run : operator.runs().lapsed()) {
      operator
          .runs()
          .orphan(
              run, new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), "its claim ran out"));
    }
  }

  void serverGoes() {
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

  /** From now on nothing breaks any more, and every task may come to an end. */
  void endTrouble() {
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
    }
  }
}
