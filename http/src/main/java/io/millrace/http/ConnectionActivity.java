package io.millrace.http;

/**
 * When a connection was last used, and whether its caller is authenticated. This decides when it is
 * closed because it is idle. Thread-safe.
 */
final class ConnectionActivity {
  private volatile long lastNanos = System.nanoTime();
  private volatile boolean awaitsBytes;
  private volatile boolean waitsForEvent;
  private volatile boolean authenticated;

  /** Notes that bytes were received or sent. */
  void touch() {
    lastNanos = System.nanoTime();
  }

  /** When bytes were last received or sent, by {@link System#nanoTime}. */
  long lastNanos() {
    return lastNanos;
  }

  /** Notes whether the server waits for the rest of a request. */
  void awaitsBytes(boolean awaits) {
    awaitsBytes = awaits;
  }

  /** Notes whether a request waits for an event; the connection is then not idle. */
  void waitsForEvent(boolean waits) {
    touch();
    waitsForEvent = waits;
  }

  /** Notes that a request has been let in whose caller is known. */
  void authenticated() {
    authenticated = true;
  }

  boolean isAuthenticated() {
    return authenticated;
  }

  /** For how long the connection has been idle; 0 while a request waits for an event. */
  long idleNanos() {
    return waitsForEvent ? 0 : System.nanoTime() - lastNanos;
  }

  /** Whether it has been idle in the middle of a request for this long. */
  boolean isStuck(long nanos) {
    return awaitsBytes && idleNanos() >= nanos;
  }
}
