package io.millrace.client;

import io.millrace.client.EventStream.Event;
import io.millrace.store.Commit;
import io.millrace.store.Position;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.wire.ChangeStream;
import io.millrace.wire.WireException;
import io.millrace.work.Backoff;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stream of commits over HTTP. A virtual thread reads it into a short queue, and reconnects after
 * the last commit it read if the connection breaks. A full queue stops the reading, so that the
 * server notices a slow subscriber.
 */
final class HttpSubscription implements Subscription {
  private static final Logger LOG = LoggerFactory.getLogger(HttpSubscription.class);

  /** The server sends something every ten seconds. */
  private static final int SILENCE_MILLIS = 30_000;

  private static final int QUEUE = 256;

  /** The most bytes of commits in the queue, as the server sent them; one alone may be larger. */
  private static final int QUEUE_BYTES = 4 << 20;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  private final HttpTransport server;
  private final Interest interest;
  private final BlockingQueue<Next> queue = new ArrayBlockingQueue<>(QUEUE);
  private final Semaphore room = new Semaphore(QUEUE_BYTES);
  private final Thread reader;
  private final Position start;
  private Position last;
  private volatile @Nullable EventStream stream;
  private volatile boolean closed;
  private @Nullable StoreException ended;

  private sealed interface Next {}

  private record Arrived(Commit commit, int bytes) implements Next {}

  private record Ended(StoreException why) implements Next {}

  private HttpSubscription(HttpTransport server, Interest interest, Opened opened) {
    this.server = server;
    this.interest = interest;
    stream = opened.events;
    start = opened.start;
    last = start;
    reader = Thread.ofVirtual().name("millrace-subscription").unstarted(() -> read(opened.events));
  }

  /** Opens the stream and waits for its start position. */
  static HttpSubscription begin(HttpTransport server, Interest interest) {
    try {
      int answerMillis = server.answerMillis(Duration.ZERO);
      Opened opened = open(server, interest, interest.after(), answerMillis);
      HttpSubscription subscription = new HttpSubscription(server, interest, opened);
      subscription.reader.start();
      return subscription;
    } catch (IOException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
  }

  private record Opened(EventStream events, Position start) {}

  private static Opened open(
      HttpTransport server, Interest interest, @Nullable Position after, int answerMillis)
      throws IOException {
    EventStream events = null;
    try {
      events = events(server, path(interest, after), Math.min(answerMillis, SILENCE_MILLIS));
      Event first = events.nextEvent();
      if (first.name().equals(ChangeStream.LOST)) {
        throw ChangeStream.readLost(first.data());
      }
      Opened opened = new Opened(events, ChangeStream.readPosition(first.data()));
      events = null;
      return opened;
    } catch (WireException e) {
      throw new IOException("cannot read the stream: " + e.getMessage(), e);
    } finally {
      if (events != null) {
        events.close();
      }
    }
  }

  private static EventStream events(HttpTransport server, String path, int answerMillis)
      throws IOException {
    HttpTransport.Streamed stream = server.events(path, answerMillis);
    if (stream.status() == 200) {
      return new EventStream(stream);
    }
    HttpTransport.Answer answer = stream.whole();
    if (answer.status() >= 500) {
      throw new IOException("status " + answer.status() + ": " + answer.error());
    }
    throw new RejectedException(answer.status(), server + " says: " + answer.error());
  }

  private static String path(Interest interest, @Nullable Position after) {
    StringBuilder path = new StringBuilder("/store/changes");
    char separator = '?';
    if (after != null) {
      path.append(separator).append("after=").append(after);
      separator = '&';
    }
    for (String group : interest.groups()) {
      path.append(separator).append("group=").append(HttpTransport.encode(group));
      separator = '&';
    }
    for (String collection : interest.collections()) {
      path.append(separator).append("collection=").append(HttpTransport.encode(collection));
      separator = '&';
    }
    return path.toString();
  }

  /** Reads until the subscription is closed or cannot go on. */
  private void read(EventStream first) {
    try {
      EventStream events = first;
      while (true) {
        readUntilBroken(events);
        events = reopen();
      }
    } catch (StoreException e) {
      offer(new Ended(e));
    } catch (InterruptedException _) {
      offer(new Ended(closedException()));
    } catch (RuntimeException | Error e) {
      // Otherwise the subscriber would wait forever.
      offer(new Ended(new UnreachableException("the stream of " + server + " failed: " + e, e)));
    } finally {
      cut();
    }
  }

  private void readUntilBroken(EventStream events) throws InterruptedException {
    try {
      while (true) {
        Event event = events.nextEvent();
        switch (event.name()) {
          case ChangeStream.COMMIT -> {
            int bytes = Math.min(event.data().length, QUEUE_BYTES);
            Commit commit = ChangeStream.readCommit(event.data());
            room.acquire(bytes);
            queue.put(new Arrived(commit, bytes));
            last = commit.position();
          }
          case ChangeStream.LOST -> throw ChangeStream.readLost(event.data());
          default -> LOG.debug("unknown event {} of {}", event.name(), server);
        }
      }
    } catch (IOException e) {
      if (!closed) {
        LOG.debug("the stream of {} broke after {}: {}", server, last, e.getMessage());
      }
    } catch (WireException e) {
      throw new UnreachableException("cannot read the stream of " + server, e);
    }
  }

  private EventStream reopen() throws InterruptedException {
    cut();
    Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    while (true) {
      checkOpen();
      try {
        Opened opened = open(server, interest, last, SILENCE_MILLIS);
        stream = opened.events;
        checkOpen();
        return opened.events;
      } catch (IOException e) {
        LOG.debug("cannot go on with the stream of {}: {}", server, e.getMessage());
      }
      backoff.pause();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw closedException();
    }
    if (server.isClosed()) {
      throw server.closedException();
    }
  }

  /** Passes the end of the stream to the subscriber, unless it was closed. */
  private void offer(Next end) {
    try {
      while (!closed && !queue.offer(end, 100, TimeUnit.MILLISECONDS)) {
        LOG.trace("waiting for the subscriber");
      }
    } catch (InterruptedException _) {
      LOG.trace("closed meanwhile");
    }
  }

  private StoreClosedException closedException() {
    return new StoreClosedException("the subscription is closed");
  }

  /** Whether reading waits because the queue is full. */
  boolean isFull() {
    return room.hasQueuedThreads();
  }

  @Override
  public Position start() {
    return start;
  }

  @Override
  public @Nullable Commit next(Duration timeout) throws InterruptedException {
    if (closed) {
      throw closedException();
    }
    if (ended != null) {
      throw ended;
    }
    Next next = queue.poll(Math.max(0, timeout.toNanos()), TimeUnit.NANOSECONDS);
    return switch (next) {
      case null -> {
        if (closed) {
          throw closedException();
        }
        yield null;
      }
      case Arrived(Commit commit, int bytes) -> {
        room.release(bytes);
        yield commit;
      }
      case Ended(StoreException why) -> {
        ended = why;
        throw why;
      }
    };
  }

  @Override
  public void close() {
    closed = true;
    cut();
    reader.interrupt();
    // Wakes a thread that waits in next.
    queue.clear();
    boolean woken = queue.offer(new Ended(closedException()));
    LOG.trace("woken: {}", woken);
  }

  private void cut() {
    EventStream current = stream;
    if (current != null) {
      current.close();
    }
  }
}
