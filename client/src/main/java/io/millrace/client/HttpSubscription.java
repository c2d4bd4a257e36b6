package io.millrace.client;

import io.millrace.client.Events.Event;
import io.millrace.store.Commit;
import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.wire.ChangeStream;
import io.millrace.wire.WireException;
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
 * A stream of commits over HTTP. A virtual thread reads it into a short queue and begins again,
 * after the last commit it read, when the connection breaks. A full queue stops the reading, so
 * that the server sees how slow the subscriber is.
 */
final class HttpSubscription implements Subscription {
  private static final Logger LOG = LoggerFactory.getLogger(HttpSubscription.class);

  /** The server sends something every ten seconds. */
  private static final int SILENCE_MILLIS = 30_000;

  private static final int QUEUE = 256;

  /** The most bytes of commits in the queue, as the server sent them; one alone may be larger. */
  private static final int QUEUE_BYTES = 4 << 20;

  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 2_000;

  private final Server server;
  private final Interest interest;
  private final BlockingQueue<Next> queue = new ArrayBlockingQueue<>(QUEUE);
  private final Semaphore room = new Semaphore(QUEUE_BYTES);
  private final Thread reader;
  private final Position start;
  private Position last;
  private volatile @Nullable Connection connection;
  private volatile boolean closed;
  private @Nullable StoreException ended;

  private sealed interface Next {}

  private record Arrived(Commit commit, int bytes) implements Next {}

  private record Ended(StoreException why) implements Next {}

  private HttpSubscription(Server server, Interest interest, Opened opened) {
    this.server = server;
    this.interest = interest;
    connection = opened.connection;
    start = opened.start;
    last = start;
    reader = Thread.ofVirtual().name("millrace-subscription").unstarted(() -> read(opened.events));
  }

  /** Begins the stream and waits until the server says where it begins. */
  static HttpSubscription begin(Server server, ClientOptions options, Interest interest) {
    try {
      int patience = Math.clamp(options.timeouts().answer().toMillis(), 1, Integer.MAX_VALUE);
      Opened opened = open(server, interest, interest.after(), patience);
      HttpSubscription subscription = new HttpSubscription(server, interest, opened);
      subscription.reader.start();
      return subscription;
    } catch (IOException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
  }

  private record Opened(Connection connection, Events events, Position start) {}

  private static Opened open(
      Server server, Interest interest, @Nullable Position after, int patienceMillis)
      throws IOException {
    Connection connection = server.connect();
    try {
      Request request =
          Request.get(path(interest, after), Math.min(patienceMillis, SILENCE_MILLIS));
      Events events = new Events(connection.stream(request, "text/event-stream"));
      Event first = events.next();
      if (first.name().equals(ChangeStream.LOST)) {
        throw ChangeStream.readLost(first.data());
      }
      Opened opened = new Opened(connection, events, ChangeStream.readPosition(first.data()));
      connection = null;
      return opened;
    } catch (WireException e) {
      throw new IOException("cannot read the stream: " + e.getMessage(), e);
    } catch (Connection.Refusal refusal) {
      Answer answer = refusal.answer();
      if (answer.status() >= 500) {
        throw new IOException("status " + answer.status() + ": " + answer.error(), refusal);
      }
      throw new RejectedException(answer.status(), server + " says: " + answer.error());
    } finally {
      if (connection != null) {
        connection.cut();
      }
    }
  }

  private static String path(Interest interest, @Nullable Position after) {
    StringBuilder path = new StringBuilder("/store/changes");
    char separator = '?';
    if (after != null) {
      path.append(separator).append("after=").append(after);
      separator = '&';
    }
    for (String group : interest.groups()) {
      path.append(separator).append("group=").append(Paths.encode(group));
      separator = '&';
    }
    for (String collection : interest.collections()) {
      path.append(separator).append("collection=").append(Paths.encode(collection));
      separator = '&';
    }
    return path.toString();
  }

  /** Reads until the subscription is closed or cannot go on. */
  private void read(Events first) {
    try {
      Events events = first;
      while (true) {
        readUntilBroken(events);
        events = reopen();
      }
    } catch (StoreException e) {
      offer(new Ended(e));
    } catch (InterruptedException _) {
      offer(new Ended(closedException()));
    } catch (RuntimeException | Error e) {
      // Else the subscriber would wait for ever.
      offer(new Ended(new UnreachableException("the stream of " + server + " failed: " + e, e)));
    } finally {
      cut();
    }
  }

  private void readUntilBroken(Events events) throws InterruptedException {
    try {
      while (true) {
        Event event = events.next();
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

  private Events reopen() throws InterruptedException {
    cut();
    for (long pause = FIRST_PAUSE_MILLIS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS)) {
      if (closed) {
        throw closedException();
      }
      try {
        Opened opened = open(server, interest, last, SILENCE_MILLIS);
        connection = opened.connection;
        if (closed) {
          throw closedException();
        }
        return opened.events;
      } catch (IOException e) {
        LOG.debug("cannot go on with the stream of {}: {}", server, e.getMessage());
      }
      Thread.sleep(pause);
    }
  }

  /** Tells the subscriber how it ended; one who is closed does not ask. */
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

  /** Whether reading waits because the commits that were read ahead are as large as they may be. */
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
    // Whoever waits in next wakes up: the queue is of no use any more.
    queue.clear();
    boolean woken = queue.offer(new Ended(closedException()));
    LOG.trace("woken: {}", woken);
  }

  private void cut() {
    Connection current = connection;
    if (current != null) {
      current.cut();
    }
  }
}
