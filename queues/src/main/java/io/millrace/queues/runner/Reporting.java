package io.millrace.queues.runner;

import io.millrace.queues.InvalidRequestException;
import io.millrace.queues.LostClaimException;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Report;
import io.millrace.queues.Started;
import io.millrace.queues.TaskOutput;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How the end of a run comes into the store: the output first, then the report that names it. */
final class Reporting {
  /** How often storing output may fail while the server answers otherwise. */
  private static final int ATTEMPTS = 4;

  private final Workshop.Server server;
  private final Started started;
  private final Outputs outputs;

  Reporting(Workshop.Server server, Started started, Outputs outputs) {
    this.server = server;
    this.started = started;
    this.outputs = outputs;
  }

  /**
   * Reports, for as long as it takes.
   *
   * @throws LostClaimException when the claim is lost; nothing is left of the output then
   */
  void report(Work.Result result) throws InterruptedException {
    String complaint = result.complaint();
    Outputs.Settled settled = outputs.settle(complaint, () -> server.queues().newId(), this::store);
    String reason = join(result.reason(), settled.loss());
    Report report = new Report(result.status(), settled.output(), settled.files(), reason);
    try {
      finish(report);
    } catch (LostClaimException e) {
      drop();
      throw e;
    } catch (InvalidRequestException e) {
      // The status counts more than the output.
      String why = join(reason, "the output was not taken: " + e.getMessage());
      finish(new Report(result.status(), TaskOutput.NONE, List.of(), why));
    }
    outputs.forgetAllBut(report.output());
  }

  private void finish(Report report) throws InterruptedException {
    StoreRetry.untilAnswered(
        "the report on task " + task(), () -> server.queues().runs().finish(started, report));
  }

  private ObjectId task() {
    return started.run().task();
  }

  /** Forgets the output of a run that is not ours any more. */
  void drop() {
    outputs.forgetAllBut(TaskOutput.NONE);
  }

  /** Tries on while the server is away, and gives up where it is there and refuses. */
  private boolean store(Capture capture, long bytes) throws InterruptedException {
    StoreRetry retry = new StoreRetry();
    int refusals = 0;
    while (true) {
      try {
        capture.settle(server.blobs().get(), bytes);
        return true;
      } catch (IOException e) {
        capture.lost("could not be read: " + e);
        return false;
      } catch (RuntimeException e) {
        if (isThere()) {
          refusals++;
        }
        if (refusals == ATTEMPTS) {
          capture.lost("could not be stored: " + e.getMessage());
          return false;
        }
        retry.pause("storing the output of task " + task(), e);
      }
    }
  }

  private boolean isThere() {
    try {
      server.queues().runs().find(task());
      return true;
    } catch (RuntimeException e) {
      return false;
    }
  }

  private static @Nullable String join(@Nullable String first, @Nullable String second) {
    if (first == null) {
      return second;
    }
    return second == null ? first : first + "; " + second;
  }
}
