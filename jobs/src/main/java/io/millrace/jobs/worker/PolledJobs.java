package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Settled;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Jobs for workers that ask over HTTP instead of holding a connection. They name the fencing token
 * of their claim; a job without any sign of life for as long as a stuck one is taken back. A result
 * or failure that is repeated after its answer was lost is accepted again, as long as it is the
 * last that has come of the job. Safe for use by any number of threads.
 */
public interface PolledJobs {
  /**
   * The next job of a type for this worker, waiting for one. Whoever gets it and cannot hand it on
   * says so by {@link #undelivered}.
   *
   * @param type empty on a server without types
   * @param wait how long; zero takes a job that waits already, if there is one
   * @return empty when none came in time, or when the thread was interrupted
   * @throws WrongTokenException when the registration's token is wrong
   */
  Optional<Assignment> next(String type, Registration worker, Duration wait);

  /**
   * A job has not reached its worker: it is offered again at once, and this is no failure.
   *
   * @param fault what is wrong with the job itself, which counts as a return; null when only the
   *     worker has gone
   */
  void undelivered(Assignment assignment, @Nullable String fault);

  /**
   * The payload of a job is not there. Where the job was deleted meanwhile that is all; otherwise
   * it has failed, by no fault of the worker, which may ask for another.
   */
  void missing(Assignment assignment);

  /**
   * Notes how far a job is, which is a sign of life too; refused when the claim is not its latest.
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
   * @throws IOException when it cannot be read; nothing is kept then
   */
  Settled complete(String keyOrId, long token, InputStream result) throws IOException;
}
