package io.millrace.processes;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The process group that a program leads or led, and its session, as targets of signals. */
record ProcessGroup(ProcessIdentity leader, String sh) {
  private static final long FIRST_LOOK_MILLIS = 5;
  private static final long LONGEST_PAUSE_MILLIS = 250;
  private static final int MAX_LOOKS = 200;

  /**
   * Waits until no process of the group is left or the deadline has come, and returns whether none
   * is. No system has an event for this, so it checks at growing intervals.
   *
   * @param deadline by {@link System#nanoTime()}
   */
  CompletableFuture<Boolean> whenEmpty(long deadline) {
    return whenEmpty(deadline, FIRST_LOOK_MILLIS);
  }

  private CompletableFuture<Boolean> whenEmpty(long deadline, long pauseMillis) {
    if (!signal("0")) {
      return CompletableFuture.completedFuture(true);
    }
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    if (left <= 0) {
      return CompletableFuture.completedFuture(false);
    }
    Executor later =
        CompletableFuture.delayedExecutor(Math.min(pauseMillis, left), TimeUnit.MILLISECONDS);
    return CompletableFuture.completedFuture(Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS))
        .thenComposeAsync(nextPause -> whenEmpty(deadline, nextPause), later);
  }

  /**
   * Sends a signal to every process of the group. One that has only just begun may not lead its
   * group yet, and is waited for, for a second at most.
   *
   * @return whether there was one
   */
  boolean signal(String signal) {
    for (int looked = 0; ProcessTable.mayHaveGroup(leader); looked++) {
      if (signal(sh, signal, leader.pid())) {
        return true;
      }
      if (looked == MAX_LOOKS || !ProcessTable.isAlive(leader)) {
        return false;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(FIRST_LOOK_MILLIS));
    }
    return false;
  }

  /** Sends a signal to a group, and returns whether there was one. */
  static boolean signal(String sh, String signal, long group) {
    // Java can signal single processes only; kill is built into every sh.
    List<String> command =
        List.of(sh, "-c", "kill -s \"$1\" -- \"-$2\"", "kill", signal, "" + group);
    try {
      Process kill =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      kill.getOutputStream().close();
      return exitValue(kill) == 0;
    } catch (IOException e) {
      throw new ProcessException("process group " + group + " cannot be signalled: " + e, e);
    }
  }

  /** Waits on this thread: the JDK's future of an end needs one of a pool, which may be busy. */
  private static int exitValue(Process process) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return process.waitFor();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Sends KILL to all groups of the leader's session, one after the other, until none is found that
   * was not sent it. A group as a whole cannot escape by starting others.
   */
  void killSession() {
    boolean _ = signal("KILL");
    Set<Long> killed = new HashSet<>(Set.of(leader.pid()));
    try {
      List<Long> found = otherGroups(killed);
      while (!found.isEmpty()) {
        for (long group : found) {
          boolean _ = signal(sh, "KILL", group);
        }
        killed.addAll(found);
        found = otherGroups(killed);
      }
    } catch (IOException e) {
      throw new ProcessException("the session " + leader.pid() + " cannot be seen: " + e, e);
    }
  }

  /** The groups of the session but for these. */
  private List<Long> otherGroups(Set<Long> known) throws IOException {
    // The id of a session is not given to another process while anything of the session lives.
    if (!ProcessTable.mayHaveGroup(leader)) {
      return List.of();
    }
    return ProcessTable.all().stream()
        .filter(stat -> stat.isAlive() && stat.session() == leader.pid())
        .map(ProcessTable.Stat::group)
        .filter(group -> !known.contains(group))
        .distinct()
        .toList();
  }
}
