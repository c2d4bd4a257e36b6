package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import io.millrace.jobs.Report;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of a connection to a worker: the manager sends by it. The methods may be called
 * by any thread, never block and never fail: if something cannot be sent, the connection ends.
 * Messages arrive in the order of the calls.
 */
public interface WorkerLink {
  /** Close code: the connection has served its purpose. */
  int NORMAL = 1000;

  /** Close code: a message does not have the form that the protocol asks for. */
  int MALFORMED = 1007;

  /** Close code: a message is not allowed at this point, or an expected one did not come. */
  int NOT_ALLOWED = 1008;

  /** Close code: the server cannot go on. */
  int SERVER_ERROR = 1011;

  /** Close code: too many wrong tokens came from this address. */
  int TRY_LATER = 1013;

  /** Sends a text message. */
  void say(String text);

  /**
   * Sends the payload of a job as one binary message, in as many fragments as it needs. Nothing is
   * sent if {@link WorkerConnection#wants} says no when its turn comes, or if the payload is
   * missing. If the payload cannot be read, the connection is closed.
   *
   * @param announcement a text message that goes directly before it; null for none
   */
  void send(Job job, @Nullable String announcement);

  /**
   * What the worker reported of a job has been stored or refused. Nothing needs to be sent. The
   * default does nothing.
   *
   * @param accepted whether it was stored
   */
  default void settled(Report report, boolean accepted) {}

  /**
   * Whether the token of a registration may be checked now; otherwise the connection is closed with
   * {@link #TRY_LATER}. The default is true.
   */
  default boolean mayShowToken() {
    return true;
  }

  /** The worker has registered with a wrong token. The default does nothing. */
  default void rejected(String token) {}

  /** Sends a ping, so that proxies keep the connection open. */
  void ping();

  /**
   * Closes the connection; calling it again does nothing.
   *
   * @param code a WebSocket close code
   * @param reason for people, at most 123 bytes of UTF-8
   */
  void close(int code, String reason);
}
