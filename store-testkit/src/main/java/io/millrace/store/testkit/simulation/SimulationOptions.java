package io.millrace.store.testkit.simulation;

import io.millrace.store.testkit.environment.SimulatedDisk;
import java.util.function.Consumer;

/**
 * How far a simulation goes.
 *
 * @param seed what everything is drawn from
 * @param steps how many things happen: commands, reads, steps, faults, crashes
 * @param disk what is done to the disk before the first opening, for example to make it lie
 */
public record SimulationOptions(long seed, int steps, Consumer<SimulatedDisk> disk) {
  /** The default number of steps. */
  public static final int STEPS = 800;

  /** Rejects a run of no steps. */
  public SimulationOptions {
    if (steps < 1) {
      throw new IllegalArgumentException("a simulation has at least one step, not " + steps);
    }
  }

  /** A run of {@link #STEPS} on a disk that is honest between its faults. */
  public static SimulationOptions seed(long seed) {
    return new SimulationOptions(seed, STEPS, _ -> {});
  }

  /** The same with so many steps. */
  public SimulationOptions withSteps(int steps) {
    return new SimulationOptions(seed, steps, disk);
  }

  /** The same, with this done to the disk first. */
  public SimulationOptions withDisk(Consumer<SimulatedDisk> disk) {
    return new SimulationOptions(seed, steps, disk);
  }
}
