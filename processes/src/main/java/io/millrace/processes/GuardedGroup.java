package io.millrace.processes;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A program that ends with this process, together with all processes of its process group, which is
 * its own. Safe for use by any number of threads.
 */
public sealed interface GuardedGroup permits GuardedProcess, DirectLauncher.DirectProcess {

  /**
   * Starts a program whose standard input, output and error are files: directly, as a member of
   * this process's session, once {@link Watchdog#startDirectly} is ready, and otherwise as {@link
   * GuardedProcess#start} does.
   *
   * @param builder the command, its environment, folder and redirections, but for standard input
   * @param input the file that is its standard input
   * @param record not told of a direct start, whose group is known to be in this session
   * @throws IOException when it cannot be started; nothing is left of it then
   */
  static GuardedGroup start(
      ProcessBuilder builder, Path input, LeaderRecord record, Watchdog watchdog)
      throws IOException {
    DirectLauncher direct = watchdog.direct();
    if (direct != null) {
      var started = direct.start(builder, input);
      if (started.isPresent()) {
        return started.get();
      }
    }
    return GuardedProcess.start(builder, input, record, watchdog);
  }

  /**
   * Records the leader of a group, so that the group can be ended when the process that guards it
   * has died. Not called for groups that are known without it.
   */
  @FunctionalInterface
  interface LeaderRecord {
    /**
     * The program has started and waits before its first step. Called once; if this throws, the
     * program is ended before it has done anything.
     */
    void begun(ProcessIdentity leader) throws IOException;

    /** No process of the group is alive any more. Called once after {@link #begun}. */
    default void ended() {}
  }

  /**
   * Waits for the program's end and returns its exit code; other processes of its group may live
   * on.
   */
  int waitFor() throws InterruptedException;

  /** Whether a process of its group is alive. */
  boolean isGroupAlive();

  /** Sends TERM to its whole group. */
  void terminate();

  /** Kills its whole group; {@link #end} must still be called. */
  void kill();

  /** Kills what is left of it and its group, and stops guarding it. To be called once. */
  void end();
}
