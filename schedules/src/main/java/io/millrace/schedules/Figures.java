package io.millrace.schedules;

import io.millrace.schedules.ScheduleState.Counts;

/**
 * What the schedules of this server have done since it started, and how many there are. Safe for
 * use by threads.
 */
public final class Figures {
  private Counts counts = Counts.NONE;
  private long schedules;
  private long paused;
  private long activeRuns;

  Figures() {}

  synchronized void count(Counts more) {
    counts = counts.plus(more);
  }

  synchronized void show(long all, long pausedOnes, long runs) {
    schedules = all;
    paused = pausedOnes;
    activeRuns = runs;
  }

  /** What has happened since the start. */
  public synchronized Counts counts() {
    return counts;
  }

  /** How many schedules there are. */
  public synchronized long schedules() {
    return schedules;
  }

  /** How many of them are paused. */
  public synchronized long paused() {
    return paused;
  }

  /** How many of their runs have not ended. */
  public synchronized long activeRuns() {
    return activeRuns;
  }
}
