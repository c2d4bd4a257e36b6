package io.millrace.store.testkit.simulation;

import org.jspecify.annotations.Nullable;

/** A store did something that its promises do not allow. The message names seed and step. */
public final class SimulationFailure extends AssertionError {
  SimulationFailure(String message) {
    super(message);
  }

  SimulationFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
