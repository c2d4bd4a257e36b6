package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.Run;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.ProgramForm;
import io.millrace.queues.runner.Messages.Lines;
import io.millrace.work.trace.TraceContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The input of the work of one run.
 *
 * @param assignment what the node handed over
 * @param task the task
 * @param span the span of this attempt; null for none
 * @param folder its files
 * @param outputs its outputs
 * @param launcher starts programs
 */
record RunTask(
    Assignment assignment,
    QueueTask task,
    @Nullable TraceContext span,
    TaskFolder folder,
    Outputs outputs,
    ProcessLauncher launcher) {

  ObjectNode params() {
    return task.params();
  }

  /** The run of a schedule that it is; null for none. */
  @Nullable Scheduled scheduled() {
    return task.scheduled();
  }

  /** The variables that every program gets. */
  Map<String, String> environment() {
    Map<String, String> variables = new HashMap<>(always());
    Scheduled scheduled = scheduled();
    if (scheduled != null) {
      variables.put("MILLRACE_SCHEDULE", scheduled.name());
      variables.put(
          "MILLRACE_NOMINAL_TIME", Instant.ofEpochMilli(scheduled.nominalMillis()).toString());
      variables.put(
          "MILLRACE_STARTED_AT", Instant.ofEpochMilli(scheduled.startedMillis()).toString());
    }
    if (span != null) {
      variables.putAll(span.environment());
    }
    return variables;
  }

  private Map<String, String> always() {
    return Map.of(
        "MILLRACE_TASK_ID", assignment.task().hex(),
        "MILLRACE_QUEUE", assignment.run().queue().hex(),
        "MILLRACE_NODE", assignment.run().node(),
        "MILLRACE_TOKEN", Long.toString(assignment.run().claim().token()),
        "MILLRACE_PLUGIN", assignment.plugin(),
        "MILLRACE_STATUS_FILE", folder.status().toString());
  }

  /** The task with the fields of a document of Disbatch. */
  ObjectNode document() {
    Run run = assignment.run();
    ObjectNode document =
        ProgramForm.document(run.task().hex(), run.queue().hex(), run.node(), params());
    document.putObject("ctime").put("$date", task.ctimeMillis());
    document.putObject("mtime").put("$date", run.sinceMillis());
    return document;
  }

  /** Writes JSON into a file, for standard input. */
  Path writeInput(ObjectNode json) throws PluginException {
    try {
      PrivateFiles.write(folder.params(), Lines.bytes(json));
      return folder.params();
    } catch (IOException e) {
      throw new PluginException("the input of the program cannot be written: " + e, e);
    }
  }
}
