package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.PartitionHandler;
import io.millrace.cluster.partition.PartitionName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The work of a member on its partitions, each of which takes some time. */
abstract class SimulatedHandler implements PartitionHandler {
  private final World world;
  private final Host host;
  private final boolean endless;
  private final List<SimulatedAttempt> running = new ArrayList<>();
  private Runnable wake = () -> {};

  SimulatedHandler(World world, Host host, boolean endless) {
    this.world = world;
    this.host = host;
    this.endless = endless;
  }

  void onEnd(Runnable what) {
    wake = what;
  }

  /** The attempts that are running. */
  List<SimulatedAttempt> running() {
    return host.isGone() ? List.of() : running;
  }

  @Override
  public Attempt start(PartitionName name, byte[] task, Guard guard) {
    SimulatedAttempt attempt =
        new SimulatedAttempt(name, new String(task, StandardCharsets.UTF_8), guard);
    running.add(attempt);
    if (!endless) {
      host.at(world.now() + world.between(50, 600), attempt::end);
    }
    return attempt;
  }

  /** Does the work, which may take time; returns whether it succeeded. */
  abstract boolean finish(SimulatedAttempt attempt);

  /** One attempt. */
  final class SimulatedAttempt implements Attempt {
    private final PartitionName name;
    private final String task;
    private final Guard guard;
    private State state = State.RUNNING;
    private boolean stopped;
    private boolean ends;

    SimulatedAttempt(PartitionName name, String task, Guard guard) {
      this.name = name;
      this.task = task;
      this.guard = guard;
    }

    PartitionName name() {
      return name;
    }

    String task() {
      return task;
    }

    Guard guard() {
      return guard;
    }

    boolean isStopped() {
      return stopped;
    }

    @Override
    public State state() {
      return state;
    }

    @Override
    public void stop() {
      if (state == State.RUNNING && !stopped) {
        stopped = true;
        // Stopping takes a moment.
        host.at(
            world.now() + world.between(0, 50),
            () -> {
              if (!ends) {
                settle(State.FAILED);
              }
            });
      }
    }

    private void end() {
      if (state == State.RUNNING) {
        ends = true;
        settle(finish(this) ? State.SUCCEEDED : State.FAILED);
      }
    }

    private void settle(State end) {
      state = end;
      running.remove(this);
      wake.run();
    }
  }
}
