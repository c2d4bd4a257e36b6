package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.plugin.PluginException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * Everything about one run that its work needs.
 *
 * @param assignment what the node handed over
 * @param params the task's
 * @param folder its files
 * @param outputs what it writes
 * @param launcher starts programs
 */
record RunTask(
    Assignment assignment,
    ObjectNode params,
    TaskFolder folder,
    Outputs outputs,
    ProcessLauncher launcher) {

  /** What every program gets to know. */
  Map<String, String> environment() {
    return Map.of(
        "MILLRACE_TASK_ID", assignment.task().hex(),
        "MILLRACE_QUEUE", assignment.run().queue().hex(),
        "MILLRACE_NODE", assignment.run().node(),
        "MILLRACE_TOKEN", Long.toString(assignment.run().claim().token()),
        "MILLRACE_PLUGIN", assignment.plugin(),
        "MILLRACE_STATUS_FILE", folder.status().toString());
  }

  /** Puts the params into a file, for standard input. */
  Path writeParams() throws PluginException {
    try {
      PrivateFiles.write(folder.params(), Lines.bytes(params));
      return folder.params();
    } catch (IOException e) {
      throw new PluginException("the params cannot be written: " + e, e);
    }
  }
}
