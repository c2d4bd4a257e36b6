package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import io.millrace.queues.Queues;
import io.millrace.queues.plugin.Plugins;
import java.util.function.Supplier;

/**
 * What a runner uses for one task after the other.
 *
 * @param server where tasks and their output are kept
 * @param identity who this runner is
 * @param tools what it works with on this machine
 * @param folder its files
 * @param work where its tasks have their files
 */
record RunnerContext(
    Server server, ProcessIdentity identity, Tools tools, TaskFolder folder, WorkFolder work) {

  /** The queues and the blob store, which is made when it is first needed. */
  record Server(Queues queues, Supplier<BlobStore> blobs) {}

  /** What starts, watches and ends work. */
  record Tools(
      ProcessLauncher launcher,
      Watchdog watchdog,
      Schedule schedule,
      Plugins plugins,
      HardExit hardExit) {}

  /** How a runner ends at once, with whatever runs in it. */
  @FunctionalInterface
  interface HardExit {
    /**
     * Leaves the reason to the node and ends the process.
     *
     * @param reason why
     */
    void end(String reason);
  }
}
