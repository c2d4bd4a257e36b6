package io.millrace.http;

/**
 * When a connection was last used, and by whom: what decides whether it is closed for its silence.
 * Safe for use by any thread.
 */
final class ConnectionActivity {
  private volatile long lastNanos = System.nanoTime();
  private volatile boolean awaitsBytes;
  private volatile boolean waitsForEvent;
  private volatile boolean authenticated;

  /** Notes that bytes have come or gone. */
  void touch() {
    lastNanos = System.nanoTime();
  }

  /** When it was last used, by {@link System#nanoTime}. */
  long lastNanos() {
    return lastNanos;
  }

  /** Notes whether the rest of a request is awaited. */
  void awaitsBytes(boolean awaits) {
    awaitsBytes = awaits;
  }

  /** Notes whether a request waits for an event, so that silence says nothing. */
  void waitsForEvent(boolean waits) {
    touch();
    waitsForEvent = waits;
  }

  /** Notes that a request with the right credentials has come, or one to a server without any. */
  void authenticated() {
    authenticated = true;
  }

  boolean isAuthenticated() {
    return authenticated;
  }

  /** For how long nothing was sent or received although no request waits for an event. */
  long silentNanos() {
    return waitsForEvent ? 0 : System.nanoTime() - lastNanos;
  }

  /** Whether it stopped in the middle of a request so long ago. */
  boolean isStuck(long nanos) {
    return awaitsBytes && silentNanos() >= nanos;
  }
}
