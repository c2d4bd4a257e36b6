package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import io.millrace.queues.node.Runners.RunnerException;
import io.millrace.queues.registry.Queues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** A machine: the runners on it live on when its node dies, and are found by the next one. */
final class SimulatedHost implements Machine {
  private final String name;
  private final Queues queues;
  private final LongSupplier nanos;
  private final RandomGenerator random;
  private final Duration lease;
  private final List<SimulatedRunner> runners = new ArrayList<>();
  private Runners.@Nullable Listener listener;
  private boolean cannotStart;
  private int starts;
  private boolean nodeAlive;

  SimulatedHost(
      String name, Queues queues, LongSupplier nanos, RandomGenerator random, Duration lease) {
    this.name = name;
    this.queues = queues;
    this.nanos = nanos;
    this.random = random;
    this.lease = lease;
  }

  Duration lease() {
    return lease;
  }

  /** The runners that are there. */
  List<SimulatedRunner> runners() {
    return runners;
  }

  /** Whether starting a runner fails. */
  void cannotStart(boolean on) {
    cannotStart = on;
  }

  /** A node process begins; its predecessor on this host is gone. */
  Runners nodeStarts() {
    starts++;
    nodeAlive = true;
    return new HostRunners(starts);
  }

  /** The node process is gone. */
  void nodeDies() {
    nodeAlive = false;
    listener = null;
  }

  @Override
  public String host() {
    return name;
  }

  @Override
  public String process() {
    return name + " node " + starts;
  }

  @Override
  public boolean isAlive(String process) {
    return nodeAlive && process.equals(process());
  }

  @Override
  public boolean isOurs(String process) {
    return process.startsWith(name + " ");
  }

  void ended(SimulatedRunner runner) {
    runners.remove(runner);
    if (listener != null) {
      listener.ended(runner.run().task());
    }
  }

  /** Kills one of the runners, as an operator with -9 would. */
  void killOne() {
    if (!runners.isEmpty()) {
      SimulatedRunner victim = runners.remove(random.nextInt(runners.size()));
      victim.die();
      if (listener != null) {
        listener.lost(victim.run().task(), "killed by signal 9");
      }
    }
  }

  private Optional<SimulatedRunner> of(ObjectId task) {
    return runners.stream().filter(runner -> runner.run().task().equals(task)).findFirst();
  }

  private final class HostRunners implements Runners {
    private final int start;

    HostRunners(int start) {
      this.start = start;
    }

    private boolean isCurrent() {
      return nodeAlive && start == starts;
    }

    @Override
    public Set<ObjectId> recover(Collection<Run> runs, Listener heard) {
      listener = heard;
      Set<ObjectId> found = new HashSet<>();
      for (Run run : runs) {
        of(run.task())
            .filter(runner -> runner.run().claim().equals(run.claim()))
            .ifPresent(_ -> found.add(run.task()));
      }
      return found;
    }

    @Override
    public boolean offer(Run run, String plugin, NodeConfig config) {
      boolean takes = random.nextInt(4) > 0;
      if (takes) {
        begin(run, plugin, config);
      }
      return takes;
    }

    @Override
    public void begin(Run run, String plugin, NodeConfig config) {
      if (!isCurrent()) {
        throw new AssertionError("a dead node begins a run");
      }
      if (cannotStart) {
        throw new RunnerException("no process can be started", new IllegalStateException());
      }
      long work = random.nextLong(1, random.nextInt(8) == 0 ? 20_000 : 800) * 1_000_000;
      SimulatedRunner runner =
          new SimulatedRunner(
              SimulatedHost.this,
              queues.runs(),
              run,
              name + " runner " + random.nextLong(1L << 40),
              work);
      runner.startAt(nanos.getAsLong() + random.nextLong(1, 200) * 1_000_000);
      runners.add(runner);
    }

    @Override
    public void stop(ObjectId task, Duration grace) {
      of(task).ifPresent(runner -> runner.stop(nanos.getAsLong()));
    }

    @Override
    public void close() {
      if (isCurrent()) {
        listener = null;
      }
    }
  }
}
