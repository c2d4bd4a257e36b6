package io.millrace.cluster.simulation;

/** Works on tasks, each of which ends with a write to the output. */
final class SimulatedTaskHandler extends SimulatedHandler {
  private final World world;
  private final Host host;
  private final Output output;
  private final Faults faults;

  SimulatedTaskHandler(World world, Host host, Output output, Faults faults, boolean endless) {
    super(world, host, endless);
    this.world = world;
    this.host = host;
    this.output = output;
    this.faults = faults;
  }

  @Override
  boolean finish(SimulatedAttempt attempt) {
    if (!attempt.guard().isHeld() || (faults.isOn() && world.oneIn(20))) {
      return false;
    }
    // A write that begins in time may end late.
    if (faults.isOn() && world.oneIn(20)) {
      host.pause(world.between(1000, 8000));
    }
    host.pass(world.between(0, 20));
    return output.write(attempt.task(), attempt.guard().fence());
  }
}
