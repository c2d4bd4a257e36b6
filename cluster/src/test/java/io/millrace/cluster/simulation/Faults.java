package io.millrace.cluster.simulation;

/** Whether faults occur at present. */
final class Faults {
  private boolean on = true;

  boolean isOn() {
    return on;
  }

  void end() {
    on = false;
  }
}
