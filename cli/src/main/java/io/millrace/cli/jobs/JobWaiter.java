package io.millrace.cli.jobs;

import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Waits for jobs, one after the other. */
final class JobWaiter extends Waiter<String> {
  private final JsonCalls calls;
  private final Terminal terminal;
  private final boolean json;
  private final boolean quiet;
  private JsonNode progress = MissingNode.getInstance();

  JobWaiter(JsonCalls calls, Terminal terminal, Options options, boolean json, boolean quiet) {
    super(terminal, options.endNanos(), 1);
    this.calls = calls;
    this.terminal = terminal;
    this.json = json;
    this.quiet = quiet;
  }

  @Override
  protected void round(Set<String> window, long waitMillis) {
    String key = window.iterator().next();
    // The server counts whole seconds.
    long seconds = Math.ceilDiv(waitMillis, 1_000);
    JsonNode job;
    try {
      job = calls.get(JobCalls.path(key) + "/wait?timeout=" + seconds);
    } catch (RejectedException e) {
      if (e.status() != 404) {
        throw e;
      }
      window.remove(key);
      absent("there is no job " + Table.printable(key));
      return;
    }
    progress = job.path("progress");
    if (JobCalls.hasEnded(job)) {
      print(key, job);
      window.remove(key);
      ended(job.path("status").asString(), JobCalls.isDone(job));
    }
  }

  private void print(String key, JsonNode job) {
    if (!JobCalls.isDone(job)) {
      String reason = JobCalls.lastFailure(calls, job.path("id").asString());
      terminal.say(Table.printable(key + " failed: " + (reason.isEmpty() ? "-" : reason)));
    }
    if (!quiet) {
      String line = Table.printable(key) + "  " + job.path("status").asString();
      terminal.out().println(json ? job.toString() : line);
    }
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
