package io.millrace.store.testkit.simulation;

import org.jspecify.annotations.Nullable;

/** A store has broken its guarantees. The message contains the seed and the step. */
public final class SimulationFailure extends AssertionError {
  SimulationFailure(String message) {
    super(message);
  }

  SimulationFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
