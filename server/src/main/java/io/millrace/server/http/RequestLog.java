package io.millrace.server.http;

import io.helidon.http.HttpPrologue;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records every request: its figures always, a line where something is to be seen. */
final class RequestLog {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private final Endpoint unmatched;
  private final long slowNanos;

  /**
   * A log.
   *
   * @param unmatched what counts the requests that no route answers
   * @param slow from which time on a request is told of
   */
  RequestLog(Endpoint unmatched, Duration slow) {
    this.unmatched = unmatched;
    this.slowNanos = slow.toNanos();
  }

  /** What is known of one request; it begins when this is made. For use by one thread at a time. */
  static final class Entry {
    /** The status of "the client went away", until there is another. */
    private static final int NONE = 499;

    private final @Nullable HttpPrologue prologue;
    private final long beganNanos = System.nanoTime();
    private @Nullable Endpoint endpoint;
    private int status = NONE;
    private boolean waited;
    private volatile boolean submitted;

    Entry(@Nullable HttpPrologue prologue) {
      this.prologue = prologue;
    }

    void endpoint(Endpoint endpoint) {
      this.endpoint = endpoint;
    }

    /** How the errors of its route look. */
    ErrorForm errors() {
      return endpoint == null ? ErrorForm.PLAIN : endpoint.route().errors();
    }

    void status(int status) {
      this.status = status;
    }

    /** Notes that it is about to hand a command to a store, so that a failure leaves doubt. */
    void submitted() {
      submitted = true;
    }

    boolean hasSubmitted() {
      return submitted;
    }

    /** It has waited for events, so that its duration says nothing. */
    void waited() {
      waited = true;
    }

    /** Method and path. */
    @Override
    public String toString() {
      if (prologue == null) {
        return "(unreadable)";
      }
      return prologue.method().text() + " " + prologue.uriPath().rawPath();
    }
  }

  /** Records a request that has ended. */
  void record(Entry entry) {
    long nanos = System.nanoTime() - entry.beganNanos;
    Endpoint endpoint = entry.endpoint == null ? unmatched : entry.endpoint;
    endpoint.record(entry.status, nanos);
    // A store without room says so itself, once; each of its refusals in the log would take more.
    if (entry.status >= 500 && entry.status != 503) {
      LOG.warn("{} {} in {} µs", entry, entry.status, nanos / 1000);
    } else if (nanos > slowNanos && !entry.waited) {
      LOG.info("slow: {} {} in {} ms", entry, entry.status, nanos / 1_000_000);
    } else if (LOG.isDebugEnabled()) {
      LOG.debug("{} {} in {} µs", entry, entry.status, nanos / 1000);
    }
  }

  /** Tells of a request that failed for a reason which nobody foresaw. */
  static void unforeseen(Entry entry, Throwable failure) {
    LOG.error("no answer to {}", entry, failure);
  }
}
