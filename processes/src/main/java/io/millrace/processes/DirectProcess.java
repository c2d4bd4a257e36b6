package io.millrace.processes;

import java.io.IOException;

/**
 * A program that {@link DirectStarts} has started. Until its end is taken note of by {@link #end},
 * its pid and group are no other's, so no signal can reach a stranger.
 */
final class DirectProcess implements GuardedGroup {
  private static final int SIGKILL = 9;
  private static final int SIGTERM = 15;

  private final int pid;
  private boolean over;

  DirectProcess(int pid) {
    this.pid = pid;
  }

  /** Waits on this thread, which cannot be interrupted meanwhile. */
  @Override
  public int waitFor() {
    return Libc.awaitEnd(pid);
  }

  /** Looks at every process: the ended leader is in the group until the end. */
  @Override
  public boolean isGroupAlive() {
    try {
      return ProcessStat.all().stream().anyMatch(stat -> stat.isAlive() && stat.group() == pid);
    } catch (IOException e) {
      throw new ProcessException("the processes of group " + pid + " cannot be seen: " + e, e);
    }
  }

  @Override
  public synchronized void terminate() {
    signal(SIGTERM);
  }

  @Override
  public synchronized void kill() {
    signal(SIGKILL);
  }

  @Override
  public void end() {
    kill();
    // Not under the lock: it may take its time to die.
    waitFor();
    forget();
  }

  /** Lets its pid go, under the lock, so that nobody signals who gets it next. */
  private synchronized void forget() {
    if (!over) {
      over = true;
      Libc.reap(pid);
    }
  }

  private void signal(int signal) {
    if (!over) {
      boolean _ = Libc.kill(-pid, signal);
    }
  }
}
