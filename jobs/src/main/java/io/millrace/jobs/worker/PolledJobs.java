package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.Report.Settled;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Jobs for workers that ask over HTTP instead of holding a connection. They name the fencing token
 * of their claim. A job without any sign of life is taken back after the time for stuck jobs. A
 * result or failure that is repeated after its answer was lost is accepted again, as long as it is
 * the last report on the job. Safe for use by any number of threads.
 */
public interface PolledJobs {
  /**
   * The next job of a type for this worker. If the caller cannot deliver it, it calls {@link
   * #undelivered}.
   *
   * @param type empty on a server without types
   * @param wait how long to wait for a job; zero takes only a job that waits already
   * @return empty if none came in time, or if the thread was interrupted
   * @throws WrongTokenException if the registration's token is wrong
   */
  Optional<Assignment> next(String type, Registration worker, Duration wait);

  /**
   * A job has not reached its worker: it is offered again at once, and this is no failure.
   *
   * @param fault what is wrong with the job itself, which counts as a return; null if only the
   *     worker has gone
   */
  void undelivered(Assignment assignment, @Nullable String fault);

  /**
   * The payload of a job is missing. The job fails, by no fault of the worker, unless it was
   * deleted meanwhile; the worker may ask for another.
   */
  void missing(Assignment assignment);

  /**
   * Notes the progress of a job, which is a sign of life too; refused if the claim is not its
   * latest.
   */
  Settled progress(String keyOrId, long token, Progress progress);

  /**
   * Ends an attempt as failed.
   *
   * @param failure what is known of it; its worker is that of the attempt
   */
  Settled fail(String keyOrId, long token, Failure failure);

  /**
   * Ends an attempt with a result.
   *
   * @param result read to its end, not closed
   * @throws IOException if it cannot be read; nothing is kept then
   */
  Settled complete(String keyOrId, long token, InputStream result) throws IOException;

  /** A worker's registration token is wrong. */
  final class WrongTokenException extends JobsException {
    /** With a message for people, which does not hold the token. */
    public WrongTokenException() {
      super("the worker's token is wrong");
    }
  }
}
