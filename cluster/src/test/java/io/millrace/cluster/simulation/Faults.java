package io.millrace.cluster.simulation;

/** Whether things go wrong at present, and which. */
final class Faults {
  private boolean on = true;

  boolean isOn() {
    return on;
  }

  void end() {
    on = false;
  }
}
