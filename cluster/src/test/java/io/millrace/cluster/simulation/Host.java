package io.millrace.cluster.simulation;

/** The process that a member runs in: it may stand still, be cut off, or be gone. */
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

  /** How often it has stood still, now included. */
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

  /** When what has befallen it is over. */
  long faultyUntil() {
    return Math.max(pausedUntil, cutUntil);
  }

  boolean isCutOff() {
    return world.now() < cutUntil;
  }

  /**
   * Lets so much time pass for a caller on this host, and more where it stands still. Whoever was
   * called meanwhile and takes longer holds this host up, which is one way of standing still.
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

  /** Runs something on this host from a moment on, unless it is gone by then. */
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
            // Nothing is left of it.
          }
        });
  }
}
