package io.millrace.schedules;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.schedules.DocumentTarget.Started;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
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
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/**
 * Two servers on one store, each of which may act between any two calls of the other. Their lines
 * to it break before and after commits, their processes are killed, and their clocks are set back
 * and forth, through the end of daylight saving. No nominal time may have two runs, and none may be
 * lost.
 */
class ScheduleSimulationTest {
  private static final int SEEDS = Integer.getInteger("millrace.simulation.scheduleSeeds", 40);

  private static final List<String> OVERLAPS =
      List.of("skip", "queue_one", "queue_all", "cancel", "allow");

  private static ObjectNode form(String overlap) {
    return Json.read(
        Bytes.of(
            """
            {"times": [{"cron": "*/20 * * * *"}, {"cron": "30 2 * * *"}, {"every": "50m"}],
             "zone": "Europe/Berlin", "jitter": "5m", "missed": "all", "window": "20d",
             "overlap": "%s", "target": {"document": "x"}}
            """
                .formatted(overlap)));
  }

  /** A server with a clock of its own. */
  private static final class Server {
    Duration ahead = Duration.ZERO;
    Schedules schedules;
    ScheduleRunner runner;
    Instant due = Instant.MIN;

    Server(Schedules schedules) {
      this.schedules = schedules;
      this.runner = schedules.runner();
    }
  }

  /** Everything of one seed. */
  private static final class World implements AutoCloseable {
    final Random random;
    final EmbeddedTaskStore store;
    final Subscription news;
    final AtomicLong ids = new AtomicLong();
    final DocumentTarget target;
    final List<Server> servers = new ArrayList<>();
    final Schedules operator;
    Instant now = Instant.parse("2026-10-24T20:00:00Z");
    boolean trouble = true;
    private boolean between;

    World(long seed) {
      random = new Random(seed);
      SimulatedEnvironment environment = new SimulatedEnvironment(seed);
      store = TaskStore.open(StoreOptions.in(Path.of("store")).withEnvironment(environment));
      news = store.subscribe(Interest.everything());
      target = new DocumentTarget(store, ids);
      operator = Schedules.in(store, List.of(target), () -> now, random);
      for (int i = 0; i < 2; i++) {
        servers.add(server(i));
      }
    }

    private Server server(int number) {
      TaskStore line = FaultyStore.breaking(() -> store, () -> breaks(number));
      return new Server(
          Schedules.in(line, List.of(new DocumentTarget(line, ids)), () -> now, random));
    }

    /** Whether a call of a server breaks. Before it, the other server may do something. */
    private boolean breaks(int number) {
      if (!trouble) {
        return false;
      }
      if (!between && random.nextInt(10) == 0) {
        between = true;
        step(servers.get(1 - number));
        between = false;
      }
      return random.nextInt(25) == 0;
    }

    private void step(Server server) {
      Instant clock = now.plus(server.ahead);
      if (!server.runner.hasChanges() && server.due.isAfter(clock)) {
        return;
      }
      try {
        server.due = server.runner.step(clock);
      } catch (StoreClosedException | OutcomeUnknownException _) {
        // The process dies, and what it knew with it.
        server.runner = server.schedules.runner();
      }
    }

    void step() throws InterruptedException {
      servers.forEach(this::step);
      for (Commit commit = news.next(Duration.ZERO);
          commit != null;
          commit = news.next(Duration.ZERO)) {
        for (Server server : servers) {
          server.runner.changed(commit);
        }
      }
    }

    void settle() throws InterruptedException {
      boolean busy = true;
      for (int i = 0; busy && i < 200; i++) {
        step();
        busy =
            servers.stream()
                .anyMatch(server -> server.runner.hasChanges() || !server.due.isAfter(now));
      }
    }

    /** Something happens. */
    void disturb(Set<String> names) {
      Server server = servers.get(random.nextInt(2));
      switch (random.nextInt(8)) {
        case 0 -> server.runner = server.schedules.runner();
        case 1 -> server.ahead = Duration.ofMinutes(random.nextInt(-300, 30));
        case 2 -> server.ahead = Duration.ZERO;
        case 3 -> {
          String name = List.copyOf(new TreeSet<>(names)).get(random.nextInt(names.size()));
          Instant from = now.minus(Duration.ofMinutes(random.nextInt(600)));
          var _ = operator.backfill(name, from, from.plus(Duration.ofHours(2)));
        }
        default -> {}
      }
      for (Started run : target.runs()) {
        if (run.isActive() && random.nextInt(3) == 0) {
          target.end(run.id(), random.nextBoolean() ? Ending.SUCCEEDED : Ending.FAILED);
        }
      }
    }

    @Override
    public void close() {
      news.close();
      store.close();
    }
  }

  /** The simulation of a seed. */
  static final class Simulation implements LongConsumer {
    @Override
    public void accept(long seed) {
      try (World world = new World(seed)) {
        simulate(world, "seed " + seed);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void each_nominal_time_has_one_run_through_crashes_and_changes_of_clocks() {
    for (long seed = 0; seed < SEEDS; seed++) {
      new Simulation().accept(seed);
    }
  }

  private static void simulate(World world, String what) throws InterruptedException {
    for (String overlap : OVERLAPS) {
      world.operator.put(overlap, form(overlap));
    }
    Instant start = world.now;
    for (int i = 0; i < 60; i++) {
      world.now = world.now.plus(Duration.ofMinutes(world.random.nextInt(20)));
      world.disturb(Set.copyOf(OVERLAPS));
      for (int steps = world.random.nextInt(4); steps > 0; steps--) {
        world.step();
      }
      check(world, what);
    }
    world.trouble = false;
    world.servers.forEach(server -> server.ahead = Duration.ZERO);
    for (int round = 0; round < 400; round++) {
      world.settle();
      world.target.runs().stream()
          .filter(Started::isActive)
          .forEach(run -> world.target.end(run.id(), Ending.SUCCEEDED));
      world.settle();
      if (world.target.runs().stream().noneMatch(Started::isActive)) {
        break;
      }
    }
    check(world, what);
    checkNoneLost(world, start, what);
  }

  private static void check(World world, String what) {
    Set<String> seen = new HashSet<>();
    for (Started run : world.target.runs()) {
      Schedule schedule = world.operator.find(run.schedule()).orElseThrow().schedule();
      assertThat(seen.add(run.schedule() + run.nominal()))
          .as("%s: one run for %s of %s", what, run.nominal(), run.schedule())
          .isTrue();
      assertThat(schedule.times().next(run.nominal().minusMillis(1)))
          .as("%s: a time of %s", what, run.schedule())
          .isEqualTo(run.nominal());
      // One that waited may have been started by the server whose clock is behind.
      if (run.cause().equals("TIME") && run.schedule().equals("allow")) {
        assertThat(run.started()).as(what).isAfterOrEqualTo(schedule.due(run.nominal()));
      }
    }
    for (String overlap : OVERLAPS) {
      List<Started> active =
          world.target.runs().stream()
              .filter(run -> run.schedule().equals(overlap) && run.isActive())
              .toList();
      if (!overlap.equals("allow")) {
        assertThat(active).as("%s: runs of %s", what, overlap).hasSizeLessThan(2);
      }
    }
  }

  private static void checkNoneLost(World world, Instant start, String what) {
    for (String overlap : OVERLAPS) {
      ScheduleState state = world.operator.find(overlap).orElseThrow().state();
      Schedule schedule = world.operator.find(overlap).orElseThrow().schedule();
      List<Started> runs =
          world.target.runs().stream().filter(run -> run.schedule().equals(overlap)).toList();
      assertThat(state.counts().started()).as("%s: %s", what, overlap).isEqualTo(runs.size());
      assertThat(state.active()).as("%s: %s", what, overlap).isEmpty();
      assertThat(state.waiting()).as("%s: %s", what, overlap).isEmpty();
      assertThat(state.backfills()).as("%s: %s", what, overlap).isEmpty();
      if (overlap.equals("allow") || overlap.equals("queue_all")) {
        Set<Instant> ran = runs.stream().map(Started::nominal).collect(Collectors.toSet());
        List<Instant> lost =
            schedule.times().next(start, 1_000).stream()
                .filter(time -> !schedule.due(time).isAfter(world.now.minusSeconds(300)))
                .filter(time -> !time.isAfter(state.cursor()) && !ran.contains(time))
                .toList();
        assertThat(lost).as("%s: times without a run of %s", what, overlap).isEmpty();
        assertThat(state.cursor()).as(what).isAfter(world.now.minus(Duration.ofMinutes(30)));
      }
    }
  }
}
