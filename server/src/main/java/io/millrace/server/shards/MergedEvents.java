package io.millrace.server.shards;

import io.millrace.http.events.EventStream;
import io.millrace.http.message.HttpProblem;
import io.millrace.store.StoreClosedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The events of all shards as one stream: those of each shard in their order. The id of an event
 * has the last id of each shard, with commas between them, and events have none until each shard
 * has one; so a client that resumes after an event misses none. The stream ends when that of a
 * shard does, for example because its lead moves, and says that events were lost if that one does.
 * For use by one thread.
 */
final class MergedEvents implements EventStream.Source {
  /** How many events wait for the client before shards wait for it. */
  private static final int WAITING = 1_000;

  /** A shard sends something each ten seconds. */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(35);

  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(WAITING);
  private final String[] last;
  private final List<Upstream> upstreams = new ArrayList<>();

  /** Opens the stream of a shard. */
  interface Opener {
    /**
     * Opens it.
     *
     * @param after the id of the last event that is known; empty for none
     */
    InputStream open(int shard, String after) throws InterruptedException;
  }

  /** What a shard has sent. */
  private sealed interface Item {
    /**
     * An event.
     *
     * @param name null for none
     * @param id null for none
     */
    record Event(int shard, @Nullable String name, @Nullable String id, String data)
        implements Item {}

    /** Its stream has ended. */
    record End(int shard) implements Item {}
  }

  /** A shard has lost events. */
  private static final class EventsLostException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final byte[] data;

    EventsLostException(String data) {
      super("events were lost", null, false, false);
      this.data = data.getBytes(StandardCharsets.UTF_8);
    }
  }

  private MergedEvents(String[] last) {
    this.last = last;
  }

  /**
   * Opens the streams of all shards.
   *
   * @param after the id of an event of such a stream; null for none
   * @throws HttpProblem 400 if that is none, and whatever the opener throws
   */
  static MergedEvents open(int shards, @Nullable String after, Opener opener) {
    String[] last = new String[shards];
    Arrays.fill(last, "");
    if (after != null) {
      last = after.split(",", -1);
      if (last.length != shards) {
        throw HttpProblem.malformed(
            "after must be the id of an event, which has one of each of %d shards, not %s"
                .formatted(shards, after));
      }
    }
    MergedEvents events = new MergedEvents(last);
    boolean opened = false;
    try {
      for (int shard = 0; shard < shards; shard++) {
        events.upstreams.add(events.new Upstream(shard, opener.open(shard, last[shard])));
      }
      opened = true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new StoreClosedException("the request was interrupted");
    } finally {
      if (!opened) {
        events.close();
      }
    }
    events.upstreams.forEach(
        upstream -> Thread.ofVirtual().name("shard-events").start(upstream::read));
    return events;
  }

  /** The data of the last event, if this says that events were lost; null otherwise. */
  static byte @Nullable [] lost(RuntimeException failure) {
    return failure instanceof EventsLostException events ? events.data : null;
  }

  /** The stream of a shard. */
  private final class Upstream {
    private final int shard;
    private final InputStream stream;
    private volatile long heardNanos = System.nanoTime();

    Upstream(int shard, InputStream stream) {
      this.shard = shard;
      this.stream = stream;
    }

    private boolean isSilent() {
      return System.nanoTime() - heardNanos > LONGEST_SILENCE.toNanos();
    }

    private void read() {
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
        String name = null;
        String id = null;
        StringBuilder data = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          heardNanos = System.nanoTime();
          if (line.isEmpty()) {
            if (!data.isEmpty()) {
              items.put(new Item.Event(shard, name, id, data.toString()));
            }
            name = null;
            id = null;
            data.setLength(0);
          } else if (line.startsWith("event: ")) {
            name = line.substring("event: ".length());
          } else if (line.startsWith("id: ")) {
            id = line.substring("id: ".length());
          } else if (line.startsWith("data: ")) {
            data.append(line, "data: ".length(), line.length());
          }
        }
      } catch (IOException _) {
        // The stream has ended.
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        return;
      }
      // If there is no room, the client is not there any more, or hears of the others first.
      boolean _ = items.offer(new Item.End(shard));
      heardNanos = System.nanoTime() - LONGEST_SILENCE.toNanos();
    }
  }

  @Override
  public void begin(EventStream.Target target) {
    // Each shard says where its own stream begins.
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    Item item = items.poll(wait.toNanos(), TimeUnit.NANOSECONDS);
    switch (item) {
      case null -> {
        if (upstreams.stream().anyMatch(Upstream::isSilent)) {
          throw new StoreClosedException("a shard sends no more events");
        }
        return false;
      }
      case Item.End(int shard) ->
          throw new StoreClosedException("the stream of shard " + shard + " has ended");
      case Item.Event(int shard, String name, String id, String data) -> {
        if ("lost".equals(name)) {
          throw new EventsLostException(data);
        }
        if (id != null) {
          last[shard] = id;
        }
        boolean known = id != null && Arrays.stream(last).noneMatch(String::isEmpty);
        target.event(
            name, known ? String.join(",", last) : null, data.getBytes(StandardCharsets.UTF_8));
        return true;
      }
    }
  }

  @Override
  public void close() {
    for (Upstream upstream : upstreams) {
      try {
        upstream.stream.close();
      } catch (IOException _) {
        // It has ended.
      }
    }
    // Whoever waits for room finds it, and then the end of its stream.
    items.clear();
  }
}
