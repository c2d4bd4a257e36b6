package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.Work;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What a member works on: each task takes its time, and ends with a write to the output. */
final class SimulatedWork implements Work {
  private final World world;
  private final Host host;
  private final Output output;
  private final Trouble trouble;
  private final boolean endless;
  private final List<SimulatedAttempt> running = new ArrayList<>();
  private Runnable wake = () -> {};

  SimulatedWork(World world, Host host, Output output, Trouble trouble, boolean endless) {
    this.world = world;
    this.host = host;
    this.output = output;
    this.trouble = trouble;
    this.endless = endless;
  }

  void onEnd(Runnable what) {
    wake = what;
  }

  /** The tasks that are worked on, with proof that they may be. */
  List<SimulatedAttempt> running() {
    return host.isGone() ? List.of() : running;
  }

  @Override
  public Attempt begin(byte[] task, Guard guard) {
    SimulatedAttempt attempt =
        new SimulatedAttempt(new String(task, StandardCharsets.UTF_8), guard);
    running.add(attempt);
    if (!endless) {
      host.at(world.now() + world.between(50, 600), attempt::end);
    }
    return attempt;
  }

  /** One attempt. */
  final class SimulatedAttempt implements Attempt {
    private final String task;
    private final Guard guard;
    private State state = State.RUNNING;

    SimulatedAttempt(String task, Guard guard) {
      this.task = task;
      this.guard = guard;
    }

    String task() {
      return task;
    }

    Guard guard() {
      return guard;
    }

    @Override
    public State state() {
      return state;
    }

    @Override
    public void stop() {
      if (state == State.RUNNING) {
        // It takes a moment to stop.
        host.at(world.now() + world.between(0, 50), () -> settle(State.FAILED));
      }
    }

    private void end() {
      if (state != State.RUNNING) {
        return;
      }
      if (!guard.isHeld() || (trouble.isOn() && world.oneIn(20))) {
        settle(State.FAILED);
        return;
      }
      // What was begun in time may be over late.
      if (trouble.isOn() && world.oneIn(20)) {
        host.standStill(world.between(1000, 8000));
      }
      host.pass(world.between(0, 20));
      settle(output.write(task, guard.fence()) ? State.SUCCEEDED : State.FAILED);
    }

    private void settle(State end) {
      state = end;
      running.remove(this);
      wake.run();
    }
  }
}
