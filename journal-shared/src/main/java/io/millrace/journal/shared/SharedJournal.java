package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.JournalCheck;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A journal in a place that several servers may open at the same time: one leads, the others
 * follow. A new leader fences the one before with its first frame.
 */
public final class SharedJournal implements Journal {
  /** The most that is read at a time, in bytes. */
  static final int READ_BYTES = 4 << 20;

  /** How many frames are deleted at a time. */
  static final int DELETED_FRAMES = 1_000;

  private final Environment environment;
  private final JournalLocation location;
  private final RandomGenerator random;

  /**
   * To follow, then to append, so that whoever leads has a connection; closed by the leader, or by
   * the close if nobody has led.
   */
  private final JournalHome main;

  private final SharedFollower follower;

  /** For what the leader reads, and for its snapshots. */
  private final JournalHome side;

  /** The last sign of life that was told, after which this one leads if there is no other. */
  private @Nullable Pulse pulse;

  /** Since when it has been the same. */
  private long silentSinceNanos;

  private @Nullable Leading leading;
  private boolean closed;

  /** A journal in a prepared place. */
  SharedJournal(
      Environment environment, JournalLocation location, JournalHome main, JournalHome side) {
    this.environment = environment;
    this.location = location;
    this.main = main;
    this.follower = new SharedFollower(location, main);
    this.side = side;
    this.random = environment.newRandom();
  }

  /**
   * Opens a journal. Creates what is missing of a new store.
   *
   * @throws JournalException if the place cannot be reached, may lose commits, or is of a later
   *     version
   */
  public static SharedJournal open(Environment environment, JournalLocation location) {
    JournalHome main = location.connect();
    try {
      main.prepare(environment.newRandom());
    } catch (IOException e) {
      main.close();
      throw failed(location, "cannot be opened", e);
    } catch (RuntimeException | Error e) {
      main.close();
      throw e;
    }
    return new SharedJournal(environment, location, main, location.connect());
  }

  /**
   * Checks that a place can be reached, and loses no commits. Changes nothing; a place that is not
   * there yet, and can be created, passes.
   *
   * @throws JournalException if it cannot, or may
   */
  public static void check(JournalLocation location) {
    if (!location.exists()) {
      return;
    }
    try (JournalHome home = location.connect()) {
      home.check();
    } catch (IOException e) {
      throw failed(location, "cannot be opened", e);
    }
  }

  /** Where this journal is, to read or write it as a whole. */
  public static JournalCheck.Place place(Environment environment, JournalLocation location) {
    return new SharedPlace(environment, location);
  }

  static JournalException failed(JournalLocation location, String what, Exception e) {
    return new JournalException("the store in " + location + " " + what + ": " + e.getMessage(), e);
  }

  @Override
  public long follow(Replay replay, long after) {
    try {
      return follower.follow(replay, after).sequence();
    } catch (IOException e) {
      throw failed(location, "cannot be read", e);
    }
  }

  /** The name of a frame, for messages. */
  static String place(long sequence) {
    return "frame " + sequence;
  }

  @Override
  public Leader lead(Replay replay, long after) {
    if (leading != null) {
      throw new IllegalStateException("led already");
    }
    try {
      Chain end = follower.follow(replay, after);
      Head head = main.head();
      while (head.chain().sequence() != end.sequence()) {
        end = follower.follow(replay, end.sequence());
        head = main.head();
      }
      Pulse vacancy = pulse;
      if (vacancy == null && !head.resigned()) {
        // The caller does not wait for a sign of life.
        main.challenge(head);
        head = main.head();
      } else if (vacancy != null && !pulse(head).isSilentSince(vacancy)) {
        throw new FencedException(
            "another server began or went on to lead the store in " + location + " meanwhile");
      }
      if (end.checksum() != 0 && end.checksum() != head.chain().checksum()) {
        throw new DamagedJournalException(
            place(end.sequence()), 0, "it is not the frame that the head of the store names");
      }
      SharedLeader loop = new SharedLeader(environment, location, main, head);
      leading = new Leading(head, loop, environment.drive("journal-shared", loop));
      return leading;
    } catch (IOException e) {
      throw failed(location, "cannot be led", e);
    }
  }

  private Pulse pulse(Head head) {
    return new Pulse(
        head.chain().sequence(),
        head.renewals(),
        head.resigned(),
        location.lease(),
        head.address());
  }

  @Override
  public Pulse pulse() {
    try {
      Head head = follower.head();
      Pulse seen = pulse(head);
      long now = environment.nanos();
      if (pulse == null || !seen.isSilentSince(pulse)) {
        silentSinceNanos = now;
      } else if (!seen.vacant() && now - silentSinceNanos > location.lease().toNanos() / 2) {
        main.challenge(head);
        seen = pulse(main.head());
      }
      pulse = seen;
      return seen;
    } catch (IOException e) {
      throw failed(location, "cannot be read", e);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (leading == null) {
      main.close();
    } else {
      leading.close();
    }
    side.close();
  }

  /** The leader. */
  private final class Leading implements Leader {
    private final Tail tail;
    private final long journalId;
    private final SharedLeader loop;
    private final Driver driver;
    private final Set<StoredReader> readers = ConcurrentHashMap.newKeySet();
    private volatile Chain last;

    /** The end before the last frame. */
    private Chain beforeLast;

    /** The last frame that is durable. */
    private volatile long durable;

    Leading(Head head, SharedLeader loop, Driver driver) {
      Chain end = head.chain();
      this.tail =
          new Tail(end.sequence(), end.epoch(), end.position(), end.timeMillis(), null, 0, 0);
      this.journalId = head.journalId();
      this.loop = loop;
      this.driver = driver;
      this.last = end;
      this.beforeLast = end;
      this.durable = end.sequence();
    }

    @Override
    public Tail tail() {
      return tail;
    }

    @Override
    public CompletableFuture<Void> append(Frame frame) {
      last.require(frame);
      if (last.sequence() == tail.sequence() && frame.epoch() <= tail.epoch()) {
        throw new IllegalArgumentException(frame + " does not begin an epoch");
      }
      if (frame.payload().remaining() > FrameCodec.MAX_PAYLOAD_BYTES) {
        throw new IllegalArgumentException(
            frame.payload().remaining()
                + " bytes of payload, at most "
                + FrameCodec.MAX_PAYLOAD_BYTES);
      }
      CompletableFuture<Void> done = loop.add(frame).thenRun(() -> durable = frame.sequence());
      beforeLast = last;
      last = last.after(frame, 0);
      driver.signal();
      return done;
    }

    @Override
    public boolean takeBack(Frame frame) {
      boolean taken = loop.takeBack(frame);
      if (taken) {
        last = beforeLast;
      }
      return taken;
    }

    @Override
    public void listen(Listener listener) {
      loop.listen(listener);
    }

    @Override
    public void announce(String address) {
      loop.announce(address);
      driver.signal();
    }

    @Override
    public long beat() {
      long dueNanos = loop.renewalDueNanos();
      if (dueNanos > 0) {
        return dueNanos;
      }
      long againNanos = loop.askForRenewal();
      driver.signal();
      return againNanos;
    }

    @Override
    public boolean holdsLease() {
      return loop.holdsLease();
    }

    @Override
    public SnapshotWriter snapshot(Frame frame) {
      return new StoredSnapshots.Writer(side, frame, random.nextLong(), false);
    }

    @Override
    public @Nullable Reader read(long position) {
      try {
        Head head = side.head();
        if (head.firstPosition() > Math.max(0, position)) {
          return null;
        }
        // Known before its place is sought, so that no trim removes it meanwhile.
        StoredReader reader = new StoredReader(this, head.first());
        readers.add(reader);
        reader.next = firstAfter(head, position);
        return reader;
      } catch (IOException e) {
        throw failed(location, "cannot be read", e);
      }
    }

    /**
     * The first frame whose position is after {@code position}; the next frame if there is none.
     */
    private long firstAfter(Head head, long position) throws IOException {
      return search(head.first(), head.chain().sequence() + 1, mark -> mark.position() > position);
    }

    @Override
    public void trim(long keepAfterPosition) {
      try {
        Head head = side.head();
        if (head.chain().epoch() != last.epoch() || head.older().sequence() == 0) {
          return;
        }
        for (Snapshot snapshot : side.snapshots()) {
          if (!snapshot.equals(head.snapshot()) && !snapshot.equals(head.older())) {
            side.deleteSnapshot(snapshot);
          }
        }
        long keep = Math.min(head.older().sequence() + 1, firstAfter(head, keepAfterPosition));
        for (StoredReader reader : readers) {
          keep = Math.min(keep, reader.next);
        }
        keep = retained(head, keep);
        FrameMark before = keep > head.first() ? side.mark(keep - 1) : null;
        if (before == null
            || !side.keepFrom(keep, before.position(), head.chain().epoch(), head.writer())) {
          return;
        }
        for (long from = head.first(); from < keep; from += DELETED_FRAMES) {
          side.deleteFrames(from, Math.min(keep, from + DELETED_FRAMES));
        }
      } catch (IOException e) {
        throw failed(location, "cannot be trimmed", e);
      }
    }

    /** The first frame to keep, at most {@code keep}, after what is kept for subscribers. */
    private long retained(Head head, long keep) throws IOException {
      long now = head.chain().timeMillis();
      return search(
          head.first(),
          keep,
          mark ->
              location
                  .retention()
                  .keeps(head.totalBytes() - mark.totalBytes(), now - mark.timeMillis()));
    }

    /** The first frame from {@code from} to before {@code to} that matches, else {@code to}. */
    private long search(long from, long to, Predicate<FrameMark> matches) throws IOException {
      long low = from;
      long high = to;
      while (low < high) {
        long middle = (low + high) >>> 1;
        FrameMark mark = side.mark(middle);
        if (mark != null && matches.test(mark)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }

    void close() {
      loop.finish();
      driver.signal();
      driver.join();
    }
  }

  /** Reads the durable frames for a subscriber. */
  private final class StoredReader implements Reader {
    private final Leading leader;
    private Iterator<Row> rows = new ArrayDeque<Row>().iterator();
    private volatile long next;

    StoredReader(Leading leader, long next) {
      this.leader = leader;
      this.next = next;
    }

    @Override
    public @Nullable Frame next() {
      try {
        if (!rows.hasNext()) {
          if (next > leader.durable) {
            return null;
          }
          rows = side.frames(next, READ_BYTES).iterator();
          if (!rows.hasNext()) {
            throw new JournalException(place(next) + " of " + location + " is no longer kept");
          }
        }
        Row row = Objects.requireNonNull(rows.next());
        Frame frame =
            FrameCodec.decode(
                row.frame().duplicate(), leader.journalId, place(row.sequence()), null);
        next = row.sequence() + 1;
        return frame;
      } catch (IOException e) {
        throw failed(location, "cannot be read", e);
      }
    }

    @Override
    public void close() {
      leader.readers.remove(this);
    }
  }
}
