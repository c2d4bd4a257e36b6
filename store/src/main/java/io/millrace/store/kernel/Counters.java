package io.millrace.store.kernel;

/** What the loop has counted since it began; for its own thread. */
final class Counters {
  long committed;
  long claimed;
  long empty;
  long refused;
  long repeated;
}
