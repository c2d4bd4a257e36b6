package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import tools.jackson.databind.JsonNode;

/** Jobs as people read them. */
final class JobTable {
  private final Table table =
      new Table(
          "KEY",
          "TYPE",
          "STATUS",
          "PRIORITY",
          "BATCH",
          "SUBMITTED",
          "WORKER",
          "BYTES",
          "DESCRIPTION");

  /** Adds a job. */
  void add(JsonNode job) {
    table.row(
        Fields.text(job.path("key")),
        Fields.text(job.path("type")),
        status(job),
        Fields.text(job.path("priority")),
        Fields.text(job.path("batchId")),
        Fields.text(job.path("submitted")),
        Fields.text(job.path("workerId")),
        Fields.text(job.path("payloadSize")),
        Fields.text(job.path("display")));
  }

  void print(PrintStream out) {
    table.print(out);
  }

  /** The status, with how far a running job is. */
  private static String status(JsonNode job) {
    String status = Fields.text(job.path("status"));
    JsonNode percent = job.path("progress").path("percent");
    return percent.isNumber() ? status + " " + Math.round(percent.asDouble()) + " %" : status;
  }

  /** The progress of a job in words. */
  static String progress(JsonNode progress) {
    JsonNode percent = progress.path("percent");
    String info = progress.path("info").asString("");
    if (!percent.isNumber()) {
      return info.isEmpty() ? "-" : info;
    }
    return percent.asString() + " %" + (info.isEmpty() ? "" : " " + info);
  }
}
