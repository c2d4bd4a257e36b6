package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a worker, as the manager speaks to it. The methods may be called by any thread,
 * never block and never fail: what cannot be sent any more shows as a disconnection. What is sent
 * arrives in the order of the calls.
 */
public interface WorkerLink {
  /** Sends a text message. */
  void say(String text);

  /**
   * Sends the payload of a job as one binary message, in as many fragments as it needs. When its
   * turn comes and {@link WorkerConnection#wants} says that it is too late, or the payload is not
   * there, nothing is sent. Where the payload cannot be read, the connection is closed.
   *
   * @param announcement a text message that goes directly before it; null for none
   */
  void send(Job job, @Nullable String announcement);

  /** Sends a ping, so that the connection survives what lies between. */
  void ping();

  /**
   * Closes the connection; calling it again does nothing.
   *
   * @param code a WebSocket close code
   * @param reason for people, at most 123 bytes of UTF-8
   */
  void close(int code, String reason);
}
