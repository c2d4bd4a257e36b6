package io.millrace.cli.jobs;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Waits for jobs to end and tells how each did. */
final class Waiting {
  private static final long WATCHED_ROUND_SECONDS = 1;
  private static final long ROUND_SECONDS = 20;
  private static final int ATTEMPTS = 10;
  private static final long PAUSE_MILLIS = 500;

  private final JsonCalls calls;
  private final Terminal terminal;
  private final long endNanos;
  private final boolean json;
  private final boolean quiet;
  private int done;
  private int failed;
  private int absent;

  /**
   * Nobody has ended yet.
   *
   * @param endNanos when to give up, by {@link System#nanoTime()}
   * @param quiet whether to print no results
   */
  Waiting(JsonCalls calls, Terminal terminal, long endNanos, boolean json, boolean quiet) {
    this.calls = calls;
    this.terminal = terminal;
    this.endNanos = endNanos;
    this.json = json;
    this.quiet = quiet;
  }

  /** Waits for all of them and gives the exit code that says how they did. */
  int until(List<String> keys) throws InterruptedException {
    try (ProgressBar bar = new ProgressBar(terminal, "ended")) {
      for (String key : keys) {
        if (!until(key, bar, keys.size())) {
          break;
        }
      }
    }
    int pending = keys.size() - done - failed - absent;
    if (keys.size() > 1 || pending > 0) {
      terminal.err().println(summary(pending));
    }
    if (absent > 0) {
      return ExitCode.NOTHING;
    }
    if (pending > 0) {
      return ExitCode.TIMED_OUT;
    }
    return failed == 0 ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  /** Whether it was seen to end before the time was over. */
  private boolean until(String key, ProgressBar bar, int all) throws InterruptedException {
    long longest = terminal.watched() ? WATCHED_ROUND_SECONDS : ROUND_SECONDS;
    long left = 1;
    while (left > 0) {
      left = endNanos - System.nanoTime();
      // The server counts whole seconds.
      long seconds = TimeUnit.NANOSECONDS.toSeconds(left + TimeUnit.SECONDS.toNanos(1) - 1);
      JsonNode job = round(key, Math.clamp(seconds, 0, longest));
      if (job == null) {
        absent++;
        terminal.err().println("millrace: there is no job " + Table.printable(key));
        return true;
      }
      if (JobCalls.hasEnded(job)) {
        ended(key, job);
        bar.show(done + failed + absent, all);
        return true;
      }
      show(job, bar, all);
    }
    return false;
  }

  private @Nullable JsonNode round(String key, long seconds) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return calls.get(JobCalls.path(key) + "/wait?timeout=" + seconds);
      } catch (RejectedException e) {
        if (e.status() == 404) {
          return null;
        }
        throw e;
      } catch (UnreachableException | StoreClosedException e) {
        again(attempt, e);
      }
    }
  }

  /** A server that is away or about to stop may be back soon. */
  private static void again(int attempt, StoreException failure) throws InterruptedException {
    if (attempt == ATTEMPTS) {
      throw failure;
    }
    Thread.sleep(PAUSE_MILLIS);
  }

  private void show(JsonNode job, ProgressBar bar, int all) {
    JsonNode progress = job.path("progress");
    if (all == 1 && progress.isObject()) {
      bar.show(
          progress.path("percent").isNumber() ? progress.path("percent").asDouble() : null,
          Table.printable(progress.path("info").asString("")));
    } else {
      bar.show(done + failed + absent, all);
    }
  }

  private void ended(String key, JsonNode job) {
    boolean well = JobCalls.isDone(job);
    if (well) {
      done++;
    } else {
      failed++;
      String words = JobCalls.lastWords(calls, job.path("id").asString());
      terminal
          .err()
          .println(
              "millrace: " + Table.printable(key + " failed: " + (words.isEmpty() ? "-" : words)));
    }
    if (!quiet) {
      String line = Table.printable(key) + "  " + job.path("status").asString();
      terminal.out().println(json ? job.toString() : line);
    }
  }

  private String summary(int pending) {
    String ends = done + " done, " + failed + " failed";
    return pending > 0 ? pending + " not ended, " + ends : ends;
  }
}
