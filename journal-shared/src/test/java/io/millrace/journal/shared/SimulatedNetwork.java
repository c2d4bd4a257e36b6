package io.millrace.journal.shared;

import io.millrace.journal.shared.SimulatedWorld.Machine;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A network that loses, delays and repeats requests and loses answers, between a place that never
 * loses what it has done and machines that stand still or die between the two.
 */
final class SimulatedNetwork {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final SimulatedWorld world;
  private final SplittableRandom random;
  private long downUntil;
  private double faults;

  SimulatedNetwork(SimulatedWorld world) {
    this.world = world;
    this.random = world.newRandom();
  }

  /** Sets how many of 100 requests meet a fault, about. */
  void faults(double percent) {
    faults = percent / 100;
  }

  /** Ends the place for a while. */
  void shutDown(long nanos) {
    downUntil = world.nanos() + nanos;
  }

  /** Sends a request of a machine, and returns its answer. */
  <T extends @Nullable Object> T call(Machine machine, Supplier<T> work) throws IOException {
    world.pause(random.nextLong(5 * MILLI));
    if (isAwayFrom(machine)) {
      world.pause(random.nextLong(100 * MILLI));
      throw new IOException("no connection");
    }
    int fault = random.nextDouble() < faults ? random.nextInt(9) : -1;
    switch (fault) {
      case 0 -> silence("the request was lost");
      case 1 -> {
        later(work);
        silence("the request is late");
      }
      case 2 -> machine.stop(random.nextLong(6 * SECOND));
      case 3 -> machine.suspend(random.nextLong(6 * SECOND));
      case 4 -> machine.kill();
      default -> {}
    }
    if (fault >= 2 && fault <= 4) {
      world.pause(1); // before the request
    }
    T result = work.get();
    switch (fault) {
      case 5 -> later(work);
      case 6 -> silence("the answer was lost");
      case 7 -> machine.stop(random.nextLong(6 * SECOND));
      case 8 -> machine.kill();
      default -> {}
    }
    if (fault >= 7 || random.nextInt(3) == 0) {
      world.pause(random.nextLong(3 * MILLI)); // before the answer
    }
    if (isAwayFrom(machine)) {
      throw new IOException("the connection was lost");
    }
    return result;
  }

  /** A request arrives after its caller has given up, or for the second time. */
  private void later(Supplier<?> work) {
    world.after(
        random.nextLong(10 * SECOND),
        () -> {
          Object _ = work.get();
        });
  }

  private boolean isAwayFrom(Machine machine) {
    return downUntil > world.nanos() || machine.isCutOff();
  }

  private void silence(String what) throws IOException {
    world.pause(random.nextLong(3 * SECOND));
    throw new IOException(what);
  }
}
