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
 * A subscription over HTTP. A virtual thread reads the stream of commits into a short queue. If the
 * connection breaks, it reconnects at the position of the last commit that it read. If the queue is
 * full, it stops reading, so that the server notices a slow subscriber.
 */
final class HttpSubscription implements Subscription {
  private static final Logger LOG = LoggerFactory.getLogger(HttpSubscription.class);

  /** The server sends something every ten seconds. */
  private static final int SILENCE_MILLIS = 30_000;

  private static final int QUEUE = 256;

  /** The most bytes of commits in the queue, as sent by the server. One commit may be larger. */
  private static final int QUEUE_BYTES = 4 << 20;

  private final HttpTransport server;
  private final Interest interest;
  private final BlockingQueue<Item> queue = new ArrayBlockingQueue<>(QUEUE);
  private final Semaphore room = new Semaphore(QUEUE_BYTES);
  private final Thread reader;
  private final Position start;
  private Position last;
  private volatile @Nullable EventStream stream;
  private volatile boolean closed;
  private @Nullable StoreException ended;

  private sealed interface Item {}

  private record Received(Commit commit, int bytes) implements Item {}

  private record Ended(StoreException why) implements Item {}

  private HttpSubscription(HttpTransport server, Interest interest, Opened opened) {
    this.server = server;
    this.interest = interest;
    stream = opened.events;
    start = opened.start;
    last = start;
    reader = Thread.ofVirtual().name("millrace-subscription").unstarted(() -> read(opened.events));
  }

  /** Opens a subscription and waits for its start position. */
  static HttpSubscription begin(HttpTransport server, Interest interest) {
    HttpTransport.Attempts attempts = server.new Attempts();
    while (true) {
      try {
        int responseTimeoutMillis = server.responseTimeoutMillis(Duration.ZERO);
        Opened opened = open(server, interest, interest.after(), responseTimeoutMillis);
        HttpSubscription subscription = new HttpSubscription(server, interest, opened);
        subscription.reader.start();
        return subscription;
      } catch (IOException e) {
        if (!attempts.mayFindLeader()) {
          throw server.unreachable(e);
        }
      }
    }
  }

  private record Opened(EventStream events, Position start) {}

  private static Opened open(
      HttpTransport server, Interest interest, @Nullable Position after, int responseTimeoutMillis)
      throws IOException {
    EventStream events = null;
    try {
      events =
          events(server, path(interest, after), Math.min(responseTimeoutMillis, SILENCE_MILLIS));
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

  private static EventStream events(HttpTransport server, String path, int responseTimeoutMillis)
      throws IOException {
    HttpExchange.StreamedResponse stream = server.events(path, responseTimeoutMillis);
    if (stream.status() == 200) {
      return new EventStream(stream);
    }
    HttpExchange.Response response = stream.whole();
    if (response.status() >= 500) {
      throw new IOException("status " + response.status() + ": " + response.error());
    }
    throw new RejectedException(response.status(), server + " says: " + response.error());
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

  /** Reads until the subscription is closed or fails. */
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
            queue.put(new Received(commit, bytes));
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
    Backoff backoff = server.backoff();
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

  /** Tells the subscriber that the stream has ended, unless the subscription was closed. */
  private void offer(Item end) {
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

  /** Whether the reader waits because the queue is full. */
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
    Item next = queue.poll(Math.max(0, timeout.toNanos()), TimeUnit.NANOSECONDS);
    return switch (next) {
      case null -> {
        if (closed) {
          throw closedException();
        }
        yield null;
      }
      case Received(Commit commit, int bytes) -> {
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
