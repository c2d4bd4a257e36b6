package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The manager's end of a worker's connection: the transport tells it what the worker does. Nothing
 * that a worker sends makes a method throw; a malformed or unexpected message closes the link with
 * a reason. For use by one thread at a time.
 */
public interface WorkerConnection {
  /** The worker has sent a text message. */
  void hear(String text);

  /**
   * The worker sends a binary message: a result. Reads it to its end, keeps it, and hands it over;
   * or, where the worker has no job whose result it could be, drops it and tells the worker.
   *
   * @param result not closed
   * @throws IOException when the stream fails; nothing is kept then
   */
  void receive(InputStream result) throws IOException;

  /** The worker shows in another way that it is there, as by a pong. */
  void alive();

  /**
   * Whether a job that was given to the worker is still to be sent to it; asked when its turn has
   * come. One that was taken from the worker meanwhile is not, and the worker has room for another.
   */
  boolean wants(Job job);

  /**
   * The payload of a job that was to be sent is not there. Where the job was deleted meanwhile that
   * is all; otherwise it has failed, by no fault of the worker, which has room for another.
   */
  void missing(Job job);

  /** A part of a payload has gone out, so that a slow line is not taken for a stuck worker. */
  void sending();

  /** Whether the worker has been let in. */
  boolean registered();

  /**
   * The connection is over; called once, and nothing after it.
   *
   * @param fault how it ended, for people: a job that the worker had counts as returned; null when
   *     the worker or the server went away in good order, which counts for nothing
   */
  void disconnected(@Nullable String fault);
}
