package io.millrace.store.testkit.simulation;

import io.millrace.store.testkit.environment.SimulatedDisk;
import java.util.function.Consumer;

/**
 * The options of a simulation.
 *
 * @param seed determines everything
 * @param steps the number of actions: commands, reads, steps, faults, crashes
 * @param disk changes the disk before the first opening, for example to make it forget syncs
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

  /** A run of {@link #STEPS} steps on an unchanged disk. */
  public static SimulationOptions seed(long seed) {
    return new SimulationOptions(seed, STEPS, _ -> {});
  }

  /** The same with another number of steps. */
  public SimulationOptions withSteps(int steps) {
    return new SimulationOptions(seed, steps, disk);
  }

  /** The same with this change of the disk. */
  public SimulationOptions withDisk(Consumer<SimulatedDisk> disk) {
    return new SimulationOptions(seed, steps, disk);
  }
}
