package io.millrace.http;

/**
 * Records who changes what, and what is refused. Thread-safe.
 *
 * @see Request#concerns
 * @see Request#changed
 */
public interface AuditTrail {
  /** Records nothing. */
  AuditTrail NONE =
      new AuditTrail() {
        @Override
        public void answered(Request request, int status, boolean mayBlock) {}

        @Override
        public void changed(Request request, String action, Request.Change change, boolean done) {}
      };

  /**
   * Records a request, once its response is known and before it is sent. Called for each request
   * whose route has an action, see {@link Route#action}, and for each one that was not let in.
   *
   * @param status the status of the response
   * @param mayBlock false on an event loop
   */
  void answered(Request request, int status, boolean mayBlock);

  /**
   * Counts a change that was made or refused on a WebSocket. Does not block.
   *
   * @param request the request that opened it
   * @param action a kind of thing and a verb
   * @param done whether it was made; otherwise it was refused
   */
  void changed(Request request, String action, Request.Change change, boolean done);
}
