package io.millrace.cli.jobs;

import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Waits for jobs, one after the other. */
final class JobWaiter extends Waiter<String> {
  private final JsonCalls calls;
  private final boolean quiet;
  private JsonNode progress = MissingNode.getInstance();

  JobWaiter(JsonCalls calls, ServerCommand server, Options options, boolean quiet) {
    super(server, calls, "job", options.endNanos(), 1);
    this.calls = calls;
    this.quiet = quiet;
  }

  @Override
  protected void round(Set<String> window, long waitMillis) {
    String key = window.iterator().next();
    // The server counts whole seconds.
    long seconds = Math.ceilDiv(waitMillis, 1_000);
    JsonNode job;
    try {
      job = calls.get(JobServer.path(key) + "/wait?timeout=" + seconds);
    } catch (RejectedException e) {
      if (e.status() != 404) {
        throw e;
      }
      window.remove(key);
      absent("there is no job " + Table.printable(key));
      return;
    }
    progress = job.path("progress");
    String status = job.path("status").asString();
    if (status.equals("done") || status.equals("failed")) {
      print(key, job, status);
      window.remove(key);
      ended(status, status.equals("done"));
    }
  }

  private void print(String key, JsonNode job, String status) {
    if (status.equals("failed")) {
      JsonNode failure = lastFailure(job.path("id").asString());
      String reason = failure.path("info").asString("");
      server()
          .terminal()
          .say(Table.printable(key + " failed: " + (reason.isEmpty() ? "-" : reason)));
      failed(key, "", failure.path("logs").asString(""));
    }
    if (!quiet) {
      server().print(job, Table.printable(key) + "  " + status);
    }
  }

  /** The last failure of a job; missing if there is none. */
  private JsonNode lastFailure(String id) {
    JsonNode failures = ServerCommand.lookUp(() -> calls.get(JobServer.path(id) + "/failures"));
    return failures.path(failures.size() - 1);
  }

  @Override
  protected boolean showProgress(ProgressBar bar) {
    if (!progress.isObject()) {
      return false;
    }
    JsonNode percent = progress.path("percent");
    bar.show(
        percent.isNumber() ? percent.asDouble() : null,
        Table.printable(progress.path("info").asString("")));
    return true;
  }

  @Override
  protected String word(String status) {
    return status;
  }
}
