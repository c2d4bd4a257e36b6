package io.millrace.server.traces;

import io.millrace.work.trace.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spans that wait for the collector. They are sent in groups, by a thread of its own; if there is
 * no room for a span, it is dropped, so that a collector that is slow or down never slows work.
 * Safe for use by threads.
 */
final class SpanQueue implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SpanQueue.class);
  private static final int AT_ONCE = 512;
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Sends spans to a collector. */
  interface Sender extends AutoCloseable {
    /**
     * Sends them, and waits for the answer.
     *
     * @return whether the collector has taken them
     */
    boolean send(List<Span> spans);

    @Override
    void close();
  }

  private final ArrayBlockingQueue<Span> waiting;
  private final Sender sender;
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final Thread thread;
  private volatile boolean closed;
  private boolean reachable = true;

  /** A queue of up to {@code most} spans; it begins to send. */
  SpanQueue(Sender sender, int most) {
    this.sender = sender;
    this.waiting = new ArrayBlockingQueue<>(most);
    this.thread = Thread.ofVirtual().name("traces").start(this::run);
  }

  /** Adds a span, or drops it. */
  void add(Span span) {
    if (!waiting.offer(span)) {
      dropped.incrementAndGet();
    }
  }

  /** How many spans wait. */
  int size() {
    return waiting.size();
  }

  /** How many spans the collector has taken. */
  long sent() {
    return sent.get();
  }

  /** How many spans found no room. */
  long dropped() {
    return dropped.get();
  }

  /** How many spans the collector has not taken. */
  long failed() {
    return failed.get();
  }

  private void run() {
    try {
      while (!closed) {
        Span first = waiting.poll(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
          if (waiting.size() < AT_ONCE && !closed) {
            // More may come soon. A close interrupts this pause.
            TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
          }
          sendFrom(first);
        }
      }
    } catch (InterruptedException _) {
      // Closed.
    }
    Span next = waiting.poll();
    while (next != null && reachable) {
      sendFrom(next);
      next = waiting.poll();
    }
  }

  private void sendFrom(Span first) {
    List<Span> spans = new ArrayList<>();
    spans.add(first);
    waiting.drainTo(spans, AT_ONCE - 1);
    boolean taken;
    try {
      taken = sender.send(spans);
    } catch (RuntimeException e) {
      LOG.debug("spans were not sent", e);
      taken = false;
    }
    (taken ? sent : failed).addAndGet(spans.size());
    if (taken != reachable) {
      if (taken) {
        LOG.info("the collector of traces takes spans again");
      } else {
        LOG.warn("the collector of traces does not take spans; they are lost until it does");
      }
      reachable = taken;
    }
  }

  /** Sends what waits, for up to 5 seconds. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      if (!thread.join(PATIENCE)) {
        LOG.warn("{} spans were not sent before the end", waiting.size());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    sender.close();
  }
}
