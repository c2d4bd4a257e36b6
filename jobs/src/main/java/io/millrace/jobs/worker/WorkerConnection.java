package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The manager's end of a worker's connection: the transport passes on what the worker does. Nothing
 * that a worker sends makes a method throw; a malformed or unexpected message closes the link with
 * a reason. For use by one thread at a time.
 */
public interface WorkerConnection {
  /** The worker has sent a text message. */
  void hear(String text);

  /**
   * The worker sends a binary message: a result. Reads it to its end, keeps it, and reports it. If
   * the worker has no job that it could belong to, it is dropped and the worker is told.
   *
   * @param result not closed
   * @throws IOException if the stream fails; nothing is kept then
   */
  void receive(InputStream result) throws IOException;

  /** The worker gave another sign of life, for example a pong. */
  void alive();

  /**
   * Whether a job that was given to the worker is still to be sent to it; asked when its turn has
   * come. If the job was taken from the worker meanwhile, the worker has room for another.
   */
  boolean wants(Job job);

  /**
   * The payload of a job that was to be sent is missing. The job fails, by no fault of the worker,
   * unless it was deleted meanwhile; the worker has room for another.
   */
  void missing(Job job);

  /**
   * A part of a payload has gone out, so that a slow connection does not count as a stuck worker.
   */
  void sending();

  /** Whether the worker has registered. */
  boolean registered();

  /**
   * The connection is over; called once, and nothing after it.
   *
   * @param fault how it ended, for people: a job that the worker had counts as returned; null if
   *     the worker or the server closed it in good order, which counts for nothing
   */
  void disconnected(@Nullable String fault);
}
