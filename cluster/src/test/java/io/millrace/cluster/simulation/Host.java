package io.millrace.cluster.simulation;

/** The process that a member runs in. It may be paused, disconnected, or crashed. */
final class Host {
  private final World world;
  private boolean gone;
  private long pausedUntil;
  private int pauses;
  private long backMillis = Long.MAX_VALUE;
  private long cutUntil;

  Host(World world) {
    this.world = world;
  }

  void crash() {
    gone = true;
  }

  boolean isGone() {
    return gone;
  }

  /** The number of pauses so far, including a present one. */
  long pauses() {
    return world.now() > backMillis ? pauses + 1L : pauses;
  }

  void pause(long millis) {
    pauses++;
    pausedUntil = Math.max(pausedUntil, world.now() + millis);
  }

  void cutOff(long millis) {
    cutUntil = Math.max(cutUntil, world.now() + millis);
  }

  /** When its present faults end. */
  long faultyUntil() {
    return Math.max(pausedUntil, cutUntil);
  }

  boolean isCutOff() {
    return world.now() < cutUntil;
  }

  /**
   * Lets time pass for a caller on this host, and more time if the host is paused. If another event
   * that runs meanwhile takes longer, it delays this host, which counts as a pause.
   */
  void pass(long millis) {
    long outer = backMillis;
    long back = world.now() + millis;
    backMillis = Math.min(back, outer);
    world.runUntil(back);
    while (!gone && world.now() < pausedUntil) {
      world.runUntil(pausedUntil);
    }
    pauses += world.now() > back ? 1 : 0;
    backMillis = outer;
    if (gone) {
      throw new CrashedError();
    }
  }

  /**
   * Runs an action on this host at a time or after a present pause, unless the host has crashed by
   * then.
   */
  void at(long millis, Runnable action) {
    world.at(
        millis,
        () -> {
          if (gone) {
            return;
          }
          if (world.now() < pausedUntil) {
            at(pausedUntil, action);
            return;
          }
          try {
            action.run();
          } catch (CrashedError e) {
            // The process has crashed.
          }
        });
  }

  /** Ends all calls of a member when it crashes. */
  private static final class CrashedError extends Error {
    private static final long serialVersionUID = 1;

    CrashedError() {
      super("the member has crashed", null, false, false);
    }
  }
}
