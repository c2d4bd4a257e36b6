package io.millrace.queues.simulation;

import static io.millrace.queues.simulation.QueueReferee.require;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskRegistry;
import io.millrace.queues.simulation.QueueReferee.Limits;
import io.millrace.queues.simulation.QueueReferee.Order;
import io.millrace.store.Commit;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Throttling;
import io.millrace.store.testkit.environment.FaultyStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.RetryPolicy.Failed;
import io.millrace.work.policy.SharedLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Two execution nodes and a user on the queues of one store, in virtual time. Each may act between
 * any two calls of another. Lines break before and after commits, nodes forget what they run, and
 * the store's process is killed or its machine loses power. All of it follows from one seed; {@link
 * QueueReferee} checks every commit.
 */
final class QueueSimulation {
  private static final int TASKS = 50;
  private static final int ATTEMPTS = 3;
  private static final Duration RETRY = Duration.ofSeconds(2);
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final long LONGEST_MILLIS = 4_000;
  private static final long TROUBLE_MILLIS = 40_000;
  private static final long END_MILLIS = 600_000;

  /** How long a task may wait while there is room for it. */
  private static final long IDLE_MILLIS = 3_000;

  private static final String RETRIES =
      "attempts=%d retry_delay=2s retry_factor=1 retry_jitter=0 limits=shared".formatted(ATTEMPTS);

  private static final Map<String, Limits> LIMITS =
      Map.of("keyed", new Limits(4, 6, 3_000, 2), "plain", new Limits(3, 0, 0, 0));

  private static final Map<String, String> POLICIES =
      Map.of("keyed", RETRIES + " starts=6/3s key_running=2 weights=ann=2", "plain", RETRIES);

  private static final List<String> NAMES = List.of("keyed", "plain");

  private final SplittableRandom random;
  private final SimulatedEnvironment environment;
  private final StoreOptions options;
  private final QueueReferee referee = new QueueReferee(LIMITS, ATTEMPTS, RETRY.toMillis());
  private final Map<String, ObjectId> queues = new HashMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private TaskStore store;
  private Subscription news;
  private Queues user;
  private boolean trouble = true;
  private int left = TASKS;
  private int numbers;
  private int depth;

  private QueueSimulation(long seed) {
    SplittableRandom seeds = new SplittableRandom(seed);
    environment = new SimulatedEnvironment(seeds.nextLong());
    random = seeds.split();
    options = StoreOptions.in(Path.of("store")).withEnvironment(environment);
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
    user = queues();
    limitShared(5);
    unbroken(() -> {
      for (String name : NAMES) {
        Queue.Settings settings =
            new Queue.Settings(
                Objects.requireNonNull(LIMITS.get(name)).threads(),
                Queue.Sort.DEFAULT,
                List.of(),
                List.of(),
                1_000,
                Policy.parse(Objects.requireNonNull(POLICIES.get(name))));
        ObjectId id = user.queues().create(name, "shell", settings).id();
        queues.put(name, id);
      }
      return true;
    });
    nodes.add(new Node("n1"));
    nodes.add(new Node("n2"));
  }

  /** The simulation of a seed. */
  static final class Simulation implements LongConsumer {
    @Override
    public void accept(long seed) {
      simulate(seed);
    }
  }

  /** Simulates a seed; gives what happened, in few words. */
  static String simulate(long seed) {
    try {
      QueueSimulation simulation = new QueueSimulation(seed);
      simulation.run();
      return simulation.referee.summary() + ", " + simulation.millis() / 1_000 + " s";
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private long millis() {
    return environment.nanos() / 1_000_000;
  }

  private Instant wall() {
    return Instant.ofEpochMilli(environment.wallMillis());
  }

  /** Queues over a line that breaks. */
  private Queues queues() {
    FaultyStore.Faults faults =
        new FaultyStore.Faults() {
          @Override
          public boolean reaches() {
            meanwhile();
            return !(trouble && random.nextInt(80) == 0);
          }

          @Override
          public boolean answers() {
            deliver();
            return !(trouble && random.nextInt(50) == 0);
          }
        };
    return Queues.in(new FaultyStore(() -> store, faults), this::wall, random.split());
  }

  private Queue queue(Queues by, String name) {
    return by.queues().find(Objects.requireNonNull(queues.get(name))).orElseThrow();
  }

  /** An execution node with the runners of its tasks. */
  private final class Node {
    private final Queues own = queues();
    private final NodeRecord record;
    private final List<Work> works = new ArrayList<>();

    Node(String name) {
      record =
          unbroken(() ->
              own.nodes()
                  .take(name, null, new NodeIdentity(name, "host", "1 mark", List.of("shell")))
                  .orElseThrow());
    }

    /** A task that it runs until a time, with what it will report. */
    private record Work(Run run, long untilMillis, Report report) {}

    void step() {
      for (String name : NAMES) {
        attempt(() -> {
          Queue queue = queue(own, name);
          for (Run run : own.runs().claim(record, queue, random.nextInt(1, 4), LEASE)) {
            if (trouble && random.nextInt(12) == 0) {
              referee.loses(run.claim().token());
            } else {
              works.add(begin(run));
            }
          }
        });
      }
      for (Work work : List.copyOf(works)) {
        if (work.untilMillis <= millis()) {
          finish(work);
        }
      }
      attempt(() ->
          own.runs()
              .lapsed()
              .forEach(run -> own.runs().orphan(run, report(Status.ORPHANED, "its claim ended"))));
    }

    private Work begin(Run run) {
      boolean fails = random.nextInt(3) == 0;
      Report report = fails ? report(Status.FAILED, "it broke") : report(Status.SUCCEEDED, null);
      return new Work(run, millis() + random.nextLong(LONGEST_MILLIS), report);
    }

    private void finish(Work work) {
      long token = work.run.claim().token();
      referee.reports(token, work.report.status() == Status.SUCCEEDED ? "done" : "failed");
      attempt(() -> {
        try {
          own.runs().finish(own.runs().begin(work.run, "7 mark", LEASE), work.report);
        } catch (LostClaimException _) {
          // It was over before the report.
        }
        works.remove(work);
      });
    }

    private static Report report(int status, @Nullable String reason) {
      return new Report(
          status,
          new TaskOutput(Output.none(), Output.none()),
          List.of(),
          reason,
          new RetryWish.IfFailed(new Failed("1", null)));
    }
  }

  /** Does something over a line that may break. */
  private static void attempt(Runnable action) {
    try {
      action.run();
    } catch (StoreClosedException | OutcomeUnknownException _) {
      // The next step tries again.
    }
  }

  /** Does something while nothing breaks. */
  private <T> T unbroken(Supplier<T> action) {
    boolean before = trouble;
    trouble = false;
    depth++;
    try {
      return action.get();
    } finally {
      depth--;
      trouble = before;
    }
  }

  /** Another one does something between two calls of one. */
  private void meanwhile() {
    if (depth > 0 || random.nextInt(15) > 0) {
      return;
    }
    depth++;
    if (random.nextBoolean()) {
      act();
    } else {
      nodes.get(random.nextInt(nodes.size())).step();
    }
    depth--;
  }

  private void run() {
    long nextAction = 0;
    long calmAt = Long.MAX_VALUE;
    boolean calm = false;
    Map<String, Long> idle = new HashMap<>();
    while (!calm || left > 0 || !referee.allHaveEnded()) {
      long now = millis();
      require(now < END_MILLIS, "not all tasks end: %s", referee.summary());
      if (trouble && now > TROUBLE_MILLIS) {
        trouble = false;
        left = 0;
        calmAt = now + 2 * LEASE.toMillis();
      }
      if (!calm && now > calmAt) {
        calm = true;
        referee.calms();
        left = TASKS / 3;
      }
      if (now >= nextAction) {
        nextAction = now + random.nextLong(1, 800);
        act();
        if (trouble && random.nextInt(50) == 0) {
          restart();
        }
      }
      nodes.forEach(Node::step);
      deliver();
      if (calm) {
        checkIdle(idle);
      }
      environment.advance(Duration.ofMillis(random.nextLong(20, 200)));
    }
    checkEnd();
  }

  private void checkIdle(Map<String, Long> idle) {
    List<String> startable = referee.startable(environment.wallMillis());
    idle.keySet().retainAll(startable);
    for (String id : startable) {
      long since = idle.computeIfAbsent(id, _ -> millis());
      require(
          millis() - since < IDLE_MILLIS,
          "%s waits for %d ms while there is room: %s",
          id,
          millis() - since,
          referee.show(id));
    }
  }

  /** Nothing is left of tasks that have ended but what belongs to them. */
  private void checkEnd() {
    require(
        store.documents(DocumentQuery.prefix("queues.runs", "")).value().isEmpty(),
        "runs of ended tasks are left");
    int keys = store.documents(DocumentQuery.prefix("queues.unique", "")).value().size();
    require(keys == referee.holding(), "%d unique keys are left of %d", keys, referee.holding());
  }

  /** The store's process is killed, with or without its machine, and comes back. */
  private void restart() {
    deliver();
    if (random.nextBoolean()) {
      environment.killProcess();
    } else {
      environment.cutPower();
    }
    environment.advance(Duration.ofMillis(random.nextLong(3_000)));
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
  }

  private void deliver() {
    try {
      for (Commit commit = news.next(Duration.ZERO);
          commit != null;
          commit = news.next(Duration.ZERO)) {
        referee.see(commit);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void limitShared(int running) {
    new SharedLimits(store, Owner.client(7)).put("shared", new Throttling.Limit(running, 0, 0));
    deliver();
  }

  /** A user does something. */
  private void act() {
    switch (random.nextInt(10)) {
      case 0 -> disturb();
      case 1 -> limitShared(random.nextInt(3, 7));
      default -> {
        for (int i = random.nextInt(1, 4); i > 0 && left > 0; i--, left--) {
          submit();
        }
      }
    }
    deliver();
  }

  private void submit() {
    String queue = random.nextBoolean() ? "keyed" : "plain";
    String key =
        queue.equals("plain") || random.nextInt(5) == 0
            ? ""
            : List.of("ann", "bob", "cy").get(random.nextInt(3));
    String unique = random.nextBoolean() ? "" : "key-" + random.nextInt(3);
    int number = ++numbers;
    Order order =
        new Order(
            number,
            queue,
            key,
            unique,
            !unique.isEmpty() && random.nextInt(3) == 0,
            random.nextInt(4) == 0 ? random.nextLong(1, 8_000) : 0);
    referee.orders(number, order);
    Set<String> holders = referee.submits();
    ObjectNode params =
        JsonNodeFactory.instance.objectNode().put("command", Integer.toString(number));
    Terms terms =
        new Terms(Status.QUEUED, Duration.ofMillis(order.delayMillis()), null, policy(order));
    List<Submitted> submitted = new ArrayList<>();
    attempt(() -> {
      Queue of = queue(user, queue);
      user.submission().submit(of, List.of(params), terms, submitted::addAll);
    });
    deliver();
    submitted.forEach(each -> referee.answered(number, each.id().hex(), each.duplicate(), holders));
    referee.ends(holders);
  }

  private static Policy policy(Order order) {
    Map<String, String> fields = new HashMap<>();
    if (!order.key().isEmpty()) {
      fields.put("key", order.key());
    }
    if (!order.unique().isEmpty()) {
      fields.put("unique", order.unique());
      fields.put("unique_scope", order.untilStart() ? "queued" : "unfinished");
    }
    return new Policy(fields);
  }

  private void disturb() {
    List<String> ids = referee.ids();
    if (ids.isEmpty()) {
      return;
    }
    String id = ids.get(random.nextInt(ids.size()));
    ObjectId task = new ObjectId(id);
    referee.disturbs(id);
    try {
      attempt(() -> {
        TaskRegistry tasks = user.tasks();
        var _ =
            switch (random.nextInt(4)) {
              case 0 -> tasks.hold(task, Status.CANCELLED, "by a user");
              case 1 -> tasks.hold(task, Status.BLOCKED, "by a user");
              case 2 -> tasks.terminate(task);
              default -> tasks.requeue(task);
            };
      });
    } catch (QueuesException _) {
      // It is not in a state for that.
    }
  }
}
