package io.millrace.http;

/**
 * Records who changes what, and what is refused. Thread-safe.
 *
 * @see Request#concerns
 * @see Request#changed
 */
@FunctionalInterface
public interface AuditTrail {
  /** Records nothing. */
  AuditTrail NONE = (_, _, _) -> {};

  /**
   * Records a request, once its response is known and before it is sent. Called for each request
   * whose route has an action, see {@link Route#action}, and for each one that was not let in.
   *
   * @param status the status of the response
   * @param mayBlock false on an event loop
   */
  void answered(Request request, int status, boolean mayBlock);
}
