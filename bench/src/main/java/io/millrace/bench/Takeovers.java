package io.millrace.bench;

import io.millrace.bench.Backlog.WaitingTasks;
import io.millrace.bench.Measurement.Load;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.server.config.Configuration;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.Bytes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.HdrHistogram.Histogram;

/**
 * Two servers on one store, in a SQLite file and in the databases of {@code --store}: how long a
 * client that commits one task after the other waits when the leader is killed and when it is told
 * to stop, and a standby of a store with many tasks.
 */
final class Takeovers extends Scenario {
  private static final int ROUNDS = 50;
  private static final int MANY = 1_000_000;

  /** How long a new standby gets to load its classes before the leader is killed. */
  private static final Duration SETTLING = Duration.ofSeconds(3);

  /**
   * How long it runs before the leader is stopped, as in an upgrade that goes from server to
   * server: until its start takes nothing from the leader, which is on the same machine.
   */
  private static final Duration SETTLED = Duration.ofSeconds(10);

  /** The longest time from then on to the end of the leader: a lease, so that its phase varies. */
  private static final Duration LEASE = Duration.ofMillis(1_500);

  private static final Duration KILLED_TARGET = Duration.ofSeconds(3);
  private static final Duration STOPPED_TARGET = Duration.ofMillis(200);

  Takeovers() {
    super(
        "takeover",
        "two servers on the databases of --store, otherwise on SQLite: the leader killed and"
            + " stopped, a standby of "
            + String.format(Locale.ROOT, "%,d", MANY)
            + " tasks");
  }

  @Override
  void run(Context context) throws IOException {
    if (!MillraceProcess.isHere()) {
      context.say(name(), "left out, as the program is not here");
      return;
    }
    if (context.stores().isEmpty()) {
      measure(context, "SQLite", "jdbc:sqlite:" + context.newFolder("sqlite").resolve("store.db"));
    }
    for (String url : context.stores()) {
      measure(context, url.split(":", 3)[1], url);
    }
  }

  private void measure(Context context, String kind, String url) throws IOException {
    int rounds = Math.max(1, ROUNDS / context.scale());
    try (Servers servers = new Servers(context, url)) {
      Histogram killed = Load.histogram();
      for (int i = 0; i < rounds; i++) {
        killed.recordValue(servers.killed());
      }
      report(context, kind + ", leader killed, until the next commit", killed, KILLED_TARGET);
      Histogram stopped = Load.histogram();
      for (int i = 0; i < rounds; i++) {
        stopped.recordValue(servers.stopped());
      }
      report(
          context,
          kind + ", leader stopped, longest time between commits",
          stopped,
          STOPPED_TARGET);
    }
    try (Servers servers = new Servers(context, url)) {
      int tasks = Math.max(1, MANY / context.scale());
      servers.fill(tasks);
      String with = String.format(Locale.ROOT, "%s, a standby of %,d tasks", kind, tasks);
      context.add(Measurement.of(name(), with + ", until it follows", servers.standbyStart(), "s"));
      context.add(Measurement.of(name(), with + ", its memory", servers.standbyMebibytes(), "MiB"));
      double seconds = servers.killed() / 1e9;
      context.add(
          Measurement.of(name(), with + ", leader killed, until the next commit", seconds, "s")
              .withTarget("≤ 3 s", seconds <= KILLED_TARGET.toSeconds()));
    }
  }

  private void report(Context context, String what, Histogram nanos, Duration target) {
    double p50 = nanos.getValueAtPercentile(50) / 1e3;
    double p99 = nanos.getValueAtPercentile(99) / 1e3;
    context.add(
        Measurement.of(name(), what, p99 / 1e6, "s at p99 of " + nanos.getTotalCount())
            .withLatency(p50, p99)
            .withTarget("≤ " + target.toMillis() / 1e3 + " s", p99 <= target.toNanos() / 1e3));
  }

  /** A leader and a standby of one store; when one has ended, a new standby takes its place. */
  private static final class Servers implements AutoCloseable {
    private static final String GROUP = "takeovers";
    private static final Owner CLIENT = Owner.client(1);
    private static final Bytes DATA = Bytes.of("one of many");
    private static final Duration GIVE_UP = Duration.ofMinutes(1);

    private final Context context;
    private final String url;
    private final Map<String, String> settings;
    private final String storeName;
    private final Deque<MillraceProcess> running = new ArrayDeque<>();
    private int started;
    private long commits;

    /** No server yet, on a new store at this address. */
    Servers(Context context, String url) throws IOException {
      this.context = context;
      this.url = url;
      this.settings = StoresLatency.settings(context, url);
      this.storeName = Objects.requireNonNull(settings.get("store.name"));
    }

    /** Adds tasks, before a server is started. */
    void fill(int tasks) {
      Configuration configuration =
          Configuration.read(List.of(StoreSettings.SECTION), null, settings);
      try (EmbeddedTaskStore store = configuration.get(StoreSettings.SECTION).open()) {
        WaitingTasks.fill(store, tasks);
      }
    }

    private MillraceProcess start() throws IOException {
      Path folder = context.newFolder("server-" + started++);
      MillraceProcess server =
          MillraceProcess.server(
              context, folder, "--no-node", "--store", url, "--set", "store.name=" + storeName);
      running.addLast(server);
      return server;
    }

    /** Starts what is missing of two servers. */
    private void complete() throws IOException {
      while (running.size() < 2) {
        start();
      }
    }

    /** How long a standby takes from its start until it has read the whole store, in seconds. */
    double standbyStart() throws IOException {
      start();
      long began = System.nanoTime();
      start();
      return (System.nanoTime() - began) / 1e9;
    }

    double standbyMebibytes() throws IOException {
      return (double) running.getLast().residentBytes() / (1 << 20);
    }

    /** Kills the leader; returns the time from the kill to the next commit, in nanoseconds. */
    long killed() throws IOException {
      complete();
      try (HttpTaskStore store = open()) {
        commitForAWhile(store, SETTLING);
        long began = System.nanoTime();
        running.removeFirst().kill();
        commit(store);
        return System.nanoTime() - began;
      }
    }

    /**
     * Stops the leader as an operator does; returns the longest time between two commits until it
     * has ended and another one has followed, in nanoseconds.
     */
    long stopped() throws IOException {
      complete();
      try (HttpTaskStore store = open()) {
        commitForAWhile(store, SETTLED);
        MillraceProcess leader = running.removeFirst();
        long longest = 0;
        long before = System.nanoTime();
        leader.terminate();
        boolean ended = false;
        while (!ended) {
          ended = !leader.isAlive();
          commit(store);
          long now = System.nanoTime();
          longest = Math.max(longest, now - before);
          before = now;
        }
        return longest;
      }
    }

    private HttpTaskStore open() {
      List<URI> addresses = running.stream().map(MillraceProcess::address).toList();
      return HttpTaskStore.open(ClientOptions.at(addresses).withRetryFor(GIVE_UP));
    }

    private void commitForAWhile(TaskStore store, Duration least) {
      long phase = ThreadLocalRandom.current().nextLong(LEASE.toNanos());
      long until = System.nanoTime() + least.toNanos() + phase;
      do {
        commit(store);
      } while (System.nanoTime() < until);
    }

    private void commit(TaskStore store) {
      Transaction one =
          Transaction.by(CLIENT).add(GROUP, DATA).requestId(storeName + "-" + commits++).build();
      store.commit(one).done();
    }

    @Override
    public void close() {
      running.forEach(MillraceProcess::close);
    }
  }
}
