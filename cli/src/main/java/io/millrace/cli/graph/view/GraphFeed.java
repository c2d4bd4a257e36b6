package io.millrace.cli.graph.view;

import io.millrace.cli.remote.Retries;
import io.millrace.client.EventStream;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The changes of a graph: the first message is the whole graph, each later one contains what has
 * changed since, with no gap. A broken connection is restored at the same version. If the server no
 * longer has that version, it sends the whole graph again.
 */
public final class GraphFeed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GraphFeed.class);
  private static final Duration SILENCE = Duration.ofSeconds(60);
  private static final long PAUSE_MILLIS = 500;
  private static final int GONE = 410;

  /** The most messages in memory; the server disconnects a reader that is too slow. */
  private static final int WAITING = 1_000;

  private final JsonCalls calls;
  private final String path;
  private final Consumer<byte[]> raw;
  private final BlockingQueue<Item> queue = new LinkedBlockingQueue<>(WAITING);
  private final Thread reader = Thread.ofVirtual().name("millrace-feed").unstarted(this::read);
  private volatile @Nullable EventStream stream;
  private volatile boolean closed;
  private long version;
  private final Retries retries = new Retries();

  private sealed interface Item {}

  private record Received(Message message) implements Item {}

  private record Ended(StoreException why) implements Item {}

  private GraphFeed(JsonCalls calls, String path, Consumer<byte[]> raw) {
    this.calls = calls;
    this.path = path;
    this.raw = raw;
  }

  /**
   * Starts to read.
   *
   * @param path the path of the events, with a query that selects nodes
   * @param raw receives each message before it is parsed
   */
  public static GraphFeed open(JsonCalls calls, String path, Consumer<byte[]> raw) {
    GraphFeed feed = new GraphFeed(calls, path, raw);
    feed.reader.start();
    return feed;
  }

  /**
   * Starts to read after {@code known}, which is the first message.
   *
   * @param path the path of the events, with a query that selects nodes
   */
  public static GraphFeed after(Message known, JsonCalls calls, String path) {
    GraphFeed feed = new GraphFeed(calls, path, _ -> {});
    feed.version = known.version();
    feed.queue.add(new Received(known));
    feed.reader.start();
    return feed;
  }

  /**
   * Waits for the next message.
   *
   * @param millis the longest wait
   * @return null if none arrived in that time
   * @throws StoreException if the server refuses the request or is unreachable for too long
   */
  public @Nullable Message next(long millis) throws InterruptedException {
    return switch (queue.poll(Math.max(0, millis), TimeUnit.MILLISECONDS)) {
      case null -> null;
      case Received(Message message) -> message;
      case Ended(StoreException why) -> throw why;
    };
  }

  private void read() {
    try {
      while (!closed) {
        readUntilBroken();
      }
    } catch (StoreException e) {
      offer(new Ended(e));
    } catch (JacksonException e) {
      offer(
          new Ended(
              new UnreachableException("cannot read the events: " + e.getOriginalMessage(), e)));
    } catch (InterruptedException _) {
      LOG.trace("closed");
    }
  }

  private void readUntilBroken() throws InterruptedException {
    try (EventStream events = calls.events(from(), SILENCE)) {
      stream = events;
      while (!closed) {
        byte[] bytes = events.next();
        raw.accept(bytes);
        Message message = Message.read(bytes);
        version = message.version();
        retries.succeeded();
        queue.put(new Received(message));
      }
    } catch (SocketTimeoutException _) {
      LOG.debug("no events and no comments for 60 s, reconnecting");
    } catch (RejectedException e) {
      if (e.status() != GONE || version == 0) {
        throw e;
      }
      version = 0;
    } catch (IOException e) {
      again(
          new UnreachableException("the connection of the events was lost: " + e.getMessage(), e));
    } catch (UnreachableException | StoreClosedException e) {
      again(e);
    }
  }

  private String from() {
    return version == 0 ? path : path + (path.contains("?") ? "&" : "?") + "after=" + version;
  }

  private void again(StoreException failure) throws InterruptedException {
    if (!closed) {
      retries.pause(failure);
    }
  }

  private void offer(Ended end) {
    try {
      while (!closed && !queue.offer(end, PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.trace("waiting for the reader of the queue");
      }
    } catch (InterruptedException _) {
      LOG.trace("closed meanwhile");
    }
  }

  @Override
  public void close() {
    closed = true;
    EventStream current = stream;
    if (current != null) {
      current.close();
    }
    reader.interrupt();
  }

  /**
   * A message about a graph.
   *
   * @param version the version of the graph after this message
   * @param whole whether {@code nodes} is the whole graph; otherwise only the nodes that have
   *     changed
   * @param nodes the nodes at this version
   * @param removed the ids of the nodes that were removed
   */
  public record Message(long version, boolean whole, List<NodeView> nodes, List<Long> removed) {
    private static final JsonMapper JSON = new JsonMapper();

    public Message {
      nodes = List.copyOf(nodes);
      removed = List.copyOf(removed);
    }

    /** Parses a message node by node, because the first one contains the whole graph. */
    static Message read(byte[] message) {
      long version = 0;
      boolean whole = false;
      List<NodeView> nodes = new ArrayList<>();
      List<Long> removed = new ArrayList<>();
      try (JsonParser in = JSON.createParser(message)) {
        in.nextToken();
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
          String field = in.currentName();
          in.nextToken();
          switch (field) {
            case "version" -> version = in.getLongValue();
            case "nodes", "changed" -> {
              whole |= field.equals("nodes");
              while (in.nextToken() == JsonToken.START_OBJECT) {
                nodes.add(NodeView.of(in.<JsonNode>readValueAsTree()));
              }
            }
            case "removed" ->
                in.<JsonNode>readValueAsTree().forEach(id -> removed.add(id.asLong(0)));
            default -> in.skipChildren();
          }
        }
      }
      return new Message(version, whole, nodes, removed);
    }
  }
}
