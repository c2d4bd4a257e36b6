package io.millrace.jobs.simulation;

import static io.millrace.jobs.simulation.JobReferee.require;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.JobTimeouts;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.simulation.JobReferee.Known;
import io.millrace.jobs.simulation.JobReferee.Limits;
import io.millrace.jobs.simulation.JobReferee.Order;
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
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.SharedLimits;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * A server with its dispatcher and workers, and a client with a registry of its own, on one store
 * in virtual time. Each may act between any two calls of the other. Lines break before and after
 * commits, the server is killed together with the store, and machines lose power. All of it follows
 * from one seed; {@link JobReferee} checks every commit.
 */
final class JobSimulation {
  /** How many others may start while a key waits and has room. */
  static final int MAX_TURNS = 12;

  private static final int JOBS = 60;
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final long TROUBLE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final long END_NANOS = Duration.ofMinutes(10).toNanos();
  private static final long LEAST_STEP_NANOS = 10_000_000;
  private static final long RETRY_NANOS = 1_000_000_000;

  /** How long a job may wait while there is room for it and a worker. */
  private static final long IDLE_NANOS = 3_000_000_000L;

  private static final Jobs.Options OPTIONS = new Jobs.Options(7, 3, JobReferee.MAX_RETURNS, LEASE);

  private static final JobTypes TYPES =
      JobTypes.of(
          List.of(
              new JobType("plain", null, null),
              new JobType(
                  "keyed",
                  null,
                  null,
                  Policy.parse("running=4 starts=6/3s key_running=2 weights=ann=2 limits=shared")),
              new JobType("other", null, null, Policy.parse("running=3 limits=shared"))));

  private static final Map<String, Limits> LIMITS =
      Map.of(
          "plain", new Limits(0, 0, 0, 0, false),
          "keyed", new Limits(4, 6, 3_000, 2, true),
          "other", new Limits(3, 0, 0, 0, true));

  private static final List<String> NAMES = List.of("plain", "keyed", "other");

  private final SplittableRandom random;
  private final SimulatedEnvironment environment;
  private final StoreOptions options;
  private final JobReferee referee = new JobReferee(LIMITS);
  private final Map<String, Order> unanswered = new HashMap<>();
  private TaskStore store;
  private Subscription news;
  private Server server;
  private JobRegistry client;
  private boolean trouble = true;

  /** Whether nothing has broken for so long that nothing is left of it. */
  private boolean calm;

  private long calmAtNanos;
  private boolean killed;
  private int jobsLeft = JOBS;
  private int depth;

  /** The server's process is killed between two steps of its program. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  private JobSimulation(long seed) {
    SplittableRandom seeds = new SplittableRandom(seed);
    environment = new SimulatedEnvironment(seeds.nextLong());
    random = seeds.split();
    options = StoreOptions.in(Path.of("store")).withEnvironment(environment);
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
    limitShared(5);
    server = new Server();
    client = unbroken(() -> jobs(false)).registry();
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
      JobSimulation simulation = new JobSimulation(seed);
      simulation.run();
      return simulation.referee.summary() + ", " + simulation.seconds() + " s";
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private long seconds() {
    return environment.nanos() / 1_000_000_000;
  }

  private Instant wall() {
    return Instant.ofEpochMilli(environment.wallMillis());
  }

  /** The registry over a line that breaks. */
  private Jobs jobs(boolean ofServer) {
    FaultyStore.Faults faults =
        new FaultyStore.Faults() {
          @Override
          public boolean reaches() {
            meanwhile(ofServer);
            return !(trouble && random.nextInt(80) == 0);
          }

          @Override
          public boolean answers() {
            deliver();
            if (trouble && ofServer && random.nextInt(150) == 0) {
              killed = true;
              throw new Killed();
            }
            return !(trouble && random.nextInt(50) == 0);
          }
        };
    SplittableRandom ids = random.split();
    return Jobs.open(
        new FaultyStore(() -> store, faults),
        NO_BLOBS,
        TYPES,
        OPTIONS,
        new Jobs.Environment(this::wall, ids));
  }

  /** All payloads and results are small. */
  private static final BlobStore NO_BLOBS =
      (BlobStore)
          Proxy.newProxyInstance(
              BlobStore.class.getClassLoader(),
              new Class<?>[] {BlobStore.class},
              (_, method, _) -> {
                throw new BlobException("not used: " + method.getName());
              });

  /** What a server process has. */
  private final class Server {
    final SimulatedWorkers workers = new SimulatedWorkers(NAMES, random.split(), referee::reports);
    final DocumentChanges<JobChange> changes;
    final JobDispatcher dispatcher;
    final JobTimeouts timeouts;
    private final JobRegistry registry;
    private boolean begun;
    long due = environment.nanos();
    long timeoutsDue = environment.nanos();

    Server() {
      Jobs opened = unbroken(() -> jobs(true));
      registry = opened.registry();
      changes = unbroken(() -> opened.changes(null));
      dispatcher = new JobDispatcher(registry, workers, LEASE);
      dispatcher.wakeBy(() -> due = Math.min(due, environment.nanos()));
      timeouts = opened.timeouts();
    }

    void step() {
      long now = environment.nanos();
      if (begun) {
        hear();
      }
      if (due <= now) {
        due = now + RETRY_NANOS;
        attempt(() -> {
          begin();
          Instant next = dispatcher.step(Instant.EPOCH.plusNanos(now));
          due = Duration.between(Instant.EPOCH, next).toNanos();
        });
      }
      if (timeoutsDue <= now && !killed) {
        timeoutsDue = now + RETRY_NANOS;
        attempt(() -> timeouts.step(wall()));
      }
    }

    /** Changes come at their own time. */
    private void hear() {
      attempt(() -> {
        for (Changed<JobChange> change = changes.next(Duration.ZERO);
            change != null;
            change = changes.next(Duration.ZERO)) {
          change.events().forEach(dispatcher::notice);
        }
      });
    }

    private void begin() {
      if (!begun) {
        referee.returnsAll(true);
        registry.returnAll();
        begun = true;
        referee.returnsAll(false);
        dispatcher.mayHaveMissed();
      }
    }
  }

  private interface Action {
    void run() throws InterruptedException;
  }

  /** Does something over a line that may break; what failed is tried again by the next step. */
  private static void attempt(Action action) {
    try {
      action.run();
    } catch (StoreClosedException | OutcomeUnknownException | Killed _) {
      // The line is broken, or the process is gone.
    } catch (InterruptedException e) {
      throw new AssertionError(e);
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

  /** The other one does something between two calls of one. */
  private void meanwhile(boolean ofServer) {
    if (depth > 0 || random.nextInt(15) > 0) {
      return;
    }
    depth++;
    if (ofServer) {
      act();
    } else if (server.due <= environment.nanos() + LEAST_STEP_NANOS) {
      server.step();
    }
    depth--;
  }

  private void run() {
    long nextAction = 0;
    Map<String, Long> idle = new HashMap<>();
    while (!calm || !referee.allHaveEnded() || jobsLeft > 0) {
      long now = environment.nanos();
      if (trouble && now > TROUBLE_NANOS) {
        trouble = false;
        calmAtNanos = now + 2 * LEASE.toNanos();
        jobsLeft = 0;
      }
      if (!trouble && !calm && now > calmAtNanos) {
        calm = true;
        referee.calms();
        jobsLeft += JOBS / 3;
      }
      require(now < END_NANOS, "not all jobs end: %s", referee.summary());
      if (now >= nextAction) {
        nextAction = now + random.nextLong(1, 800_000_000);
        act();
        if (trouble && random.nextInt(60) == 0) {
          killed = true;
        }
      }
      server.step();
      if (killed) {
        restart();
      }
      deliver();
      if (calm) {
        checkIdle(idle, now);
      }
      long next = Math.min(Math.min(nextAction, server.due), server.timeoutsDue);
      environment.advance(
          Duration.ofNanos(Math.clamp(next - now, LEAST_STEP_NANOS, RETRY_NANOS / 4)));
    }
    checkEnd();
  }

  /** No job waits for long while there is room for it, and none is over time for long. */
  private void checkIdle(Map<String, Long> idle, long now) {
    Map<String, Set<String>> free = new HashMap<>();
    NAMES.forEach(type -> free.put(type, server.workers.free(type)));
    Set<String> startable = referee.startable(environment.wallMillis(), free);
    idle.keySet().retainAll(startable);
    for (String id : startable) {
      long since = idle.computeIfAbsent(id, _ -> now);
      require(
          now - since < IDLE_NANOS,
          "%s waits for %d ms while there is room: %s, %s",
          id,
          millis(now - since),
          String.valueOf(referee.find(id)),
          free);
    }
    referee.checkTimes(environment.wallMillis());
  }

  private static long millis(long nanos) {
    return nanos / 1_000_000;
  }

  /** Nothing is left of jobs that have ended but what belongs to them. */
  private void checkEnd() {
    environment.advance(Duration.ofMinutes(1));
    require(
        store.groups().value().stream().noneMatch(group -> group.name().startsWith("jobs/")),
        "tasks of ended jobs are left: %s",
        store.groups().value());
    require(
        store.documents(DocumentQuery.prefix("jobs.deadlines", "")).value().isEmpty(),
        "deadlines of ended jobs are left");
    store
        .documents(DocumentQuery.prefix("jobs.unique", ""))
        .value()
        .forEach(key ->
            require(!key.body().utf8().contains("\"until\":0"), "the key %s is left", key.key()));
  }

  /** The server's process and its store are killed, with or without the machine, and come back. */
  private void restart() {
    deliver();
    if (random.nextBoolean()) {
      environment.killProcess();
    } else {
      environment.cutPower();
    }
    if (random.nextBoolean()) {
      environment.advance(Duration.ofMillis(random.nextLong(30_000)));
    }
    store = TaskStore.open(options);
    news = store.subscribe(Interest.everything());
    killed = false;
    server = new Server();
    client = unbroken(() -> jobs(false)).registry();
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
    if (killed) {
      return;
    }
    switch (random.nextInt(12)) {
      case 0 -> disturb();
      case 1 -> limitShared(random.nextInt(3, 7));
      case 2 -> submitAgain();
      default -> submit();
    }
    deliver();
  }

  private void disturb() {
    List<String> ids = referee.ids();
    if (ids.isEmpty()) {
      return;
    }
    String id = ids.get(random.nextInt(ids.size()));
    Known job = referee.find(id);
    if (job == null) {
      return;
    }
    try {
      switch (random.nextInt(4)) {
        case 0 -> {
          referee.cancels(id);
          attempt(() -> client.cancel(id));
        }
        case 1 -> attempt(() -> client.delete(id));
        default -> {
          if (job.status.equals("failed")) {
            referee.retries(id);
            attempt(() -> client.retry(id));
          }
        }
      }
    } catch (JobsException _) {
      // It is not in a state for that.
    }
  }

  /** Submits some jobs, several of them in one commit. */
  private void submit() {
    for (int i = random.nextInt(1, 5); i > 0 && jobsLeft > 0; i--, jobsLeft--) {
      Order order = order();
      JobId id = client.newId();
      referee.orders(id.toString(), order);
      // What is only queued is committed with the last one.
      send(id, order, i > 1 && jobsLeft > 1);
    }
  }

  /** A client that has no answer asks again. */
  private void submitAgain() {
    Map<String, Order> again = new HashMap<>(unanswered);
    unanswered.clear();
    again.forEach((id, order) -> send(JobId.parse(id).orElseThrow(), order, false));
  }

  private void send(JobId id, Order order, boolean later) {
    Submission submission =
        new Submission(
            order.type(),
            priority(order),
            null,
            null,
            order.notBefore(),
            Policy.parse(text(order)));
    Value.Inline payload = new Value.Inline("payload".getBytes(StandardCharsets.UTF_8));
    referee.submits();
    if (later) {
      var _ =
          client
              .enqueue(id, submission, payload)
              .handle((job, failure) -> {
                if (job == null) {
                  unanswered.put(id.toString(), order);
                } else {
                  answered(id, job);
                }
                return true;
              });
      return;
    }
    try {
      answered(id, client.submit(id, submission, payload));
    } catch (StoreClosedException | OutcomeUnknownException _) {
      unanswered.put(id.toString(), order);
    }
  }

  private void answered(JobId id, Job answer) {
    deliver();
    referee.answered(id.toString(), answer.id().toString());
  }

  /** Jobs of different priorities do not take turns: immediate ones go first. */
  static Priority priority(Order order) {
    return order.type().equals("plain") && order.key().equals("soon")
        ? Priority.IMMEDIATE
        : Priority.BATCH;
  }

  private Order order() {
    String type = NAMES.get(random.nextInt(NAMES.size()));
    Rules rules = Rules.ALL.get(random.nextInt(Rules.ALL.size()));
    String key = random.nextInt(5) == 0 ? "" : List.of("ann", "bob", "cy").get(random.nextInt(3));
    if (type.equals("plain")) {
      key = random.nextBoolean() ? "" : "soon";
    }
    String unique = random.nextBoolean() ? "" : "key-" + random.nextInt(3);
    boolean isQueued = random.nextInt(3) == 0;
    long period = random.nextInt(3) == 0 ? 9_000 : 0;
    long notBefore =
        random.nextInt(4) == 0 ? environment.wallMillis() + random.nextLong(12_000) : 0;
    return new Order(
        type,
        rules,
        key,
        unique,
        isQueued ? "queued" : "unfinished",
        unique.isEmpty() ? 0 : period,
        notBefore);
  }

  private static String text(Order order) {
    List<String> fields = new ArrayList<>();
    if (!order.rules().text().isEmpty()) {
      fields.add(order.rules().text());
    }
    if (!order.key().isEmpty()) {
      fields.add("key=" + order.key());
    }
    if (!order.unique().isEmpty()) {
      fields.add("unique=" + order.unique() + " unique_scope=" + order.scope());
    }
    if (order.period() > 0) {
      fields.add("unique_period=" + order.period() + "ms");
    }
    return fields.isEmpty() ? "snoozes=1000" : String.join(" ", fields);
  }
}
