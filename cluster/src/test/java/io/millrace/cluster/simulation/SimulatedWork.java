package io.millrace.cluster.simulation;

/** Work on tasks, each of which ends with a write to the output. */
final class SimulatedWork extends SimulatedLabor {
  private final World world;
  private final Host host;
  private final Output output;
  private final Trouble trouble;

  SimulatedWork(World world, Host host, Output output, Trouble trouble, boolean endless) {
    super(world, host, endless);
    this.world = world;
    this.host = host;
    this.output = output;
    this.trouble = trouble;
  }

  @Override
  boolean finish(SimulatedAttempt attempt) {
    if (!attempt.guard().isHeld() || (trouble.isOn() && world.oneIn(20))) {
      return false;
    }
    // What was begun in time may be over late.
    if (trouble.isOn() && world.oneIn(20)) {
      host.standStill(world.between(1000, 8000));
    }
    host.pass(world.between(0, 20));
    return output.write(attempt.task(), attempt.guard().fence());
  }
}
