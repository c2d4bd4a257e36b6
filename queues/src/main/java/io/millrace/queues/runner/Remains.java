package io.millrace.queues.runner;

import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.RunningProcess;
import org.jspecify.annotations.Nullable;

/** What a runner that has ended leaves behind: processes of its task, and its folder. */
final class Remains {
  private Remains() {}

  /**
   * Ends and removes it all.
   *
   * @param process the runner's own; null where there never was one
   */
  static void clear(ProcessLauncher launcher, TaskFolder folder, @Nullable RunningProcess process) {
    folder.leader().ifPresent(launcher::killGroup);
    if (process != null) {
      if (folder.hasSession()) {
        launcher.killSession(process.identity());
      } else {
        launcher.killGroup(process.identity());
      }
    }
    TaskFolder.remove(folder.runner());
  }
}
