package io.millrace.cluster.simulation;

/** Whether things go wrong at present, and which. */
final class Trouble {
  private boolean on = true;

  boolean isOn() {
    return on;
  }

  void end() {
    on = false;
  }
}
