package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.StoreException;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.OccupiedException;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.journal.files.JournalReport.Damage;
import io.millrace.store.journal.files.SnapshotInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A shared store that is read or written as a whole. A restore marks the head of the store first,
 * so that nobody reads or leads it until the restore has ended:
 *
 * <pre>
 *   new ────────────┬─> incomplete ──chunks, read back──> complete, nobody leads
 *   led by nobody ──┘        │
 *         (replaced)         └─ failure: new again, or incomplete if a store was replaced
 * </pre>
 */
final class SharedPlace implements JournalCheck.Place {
  private static final long POLL_NANOS = 50_000_000;

  private final Environment environment;
  private final JournalLocation location;

  SharedPlace(Environment environment, JournalLocation location) {
    this.environment = environment;
    this.location = location;
  }

  /**
   * The head.
   *
   * @throws JournalException if a restore has begun and not ended
   */
  static Head requireComplete(JournalLocation location, Head head) {
    if (head.isIncomplete()) {
      throw new JournalException(
          "the store in "
              + location
              + " is incomplete: a restore or copy to it has not ended; if none is under way,"
              + " repeat it, and let it replace what is there");
    }
    return head;
  }

  @Override
  public String toString() {
    return location.toString();
  }

  @Override
  public JournalReport read(JournalCheck.Contents contents) {
    if (!location.exists()) {
      throw new JournalException("there is no store in " + location);
    }
    try (JournalHome home = location.connect()) {
      return new Reading(home, contents).run();
    } catch (IOException e) {
      throw SharedJournal.failed(location, "cannot be read", e);
    }
  }

  /** One reading of everything. */
  private final class Reading {
    private final JournalHome home;
    private final JournalCheck.Contents contents;
    private final List<Damage> damages = new ArrayList<>();
    private long bytes;
    private long frames;
    private int snapshots;

    Reading(JournalHome home, JournalCheck.Contents contents) {
      this.home = home;
      this.contents = contents;
    }

    JournalReport run() throws IOException {
      Head head = requireComplete(location, home.head());
      for (Snapshot snapshot : List.of(head.snapshot(), head.older())) {
        if (!snapshot.equals(Snapshot.NONE)) {
          read(snapshot);
        }
      }
      Chain end = frames(head);
      List<String> notices = new ArrayList<>();
      for (Snapshot each : home.snapshots()) {
        if (!each.equals(head.snapshot()) && !each.equals(head.older())) {
          notices.add(
              StoredSnapshots.name(each)
                  + " is unfinished, or not needed any more, and is not used");
        }
      }
      return new JournalReport(
          0,
          frames,
          snapshots,
          frames == 0 ? 0 : head.first(),
          end.sequence(),
          end.position(),
          end.epoch(),
          end.timeMillis(),
          bytes,
          notices,
          damages);
    }

    private void read(Snapshot snapshot) throws IOException {
      String name = StoredSnapshots.name(snapshot);
      try {
        SnapshotInput input = StoredSnapshots.read(home, snapshot);
        Damage refused = JournalCheck.read(input, name, contents);
        if (refused != null) {
          damages.add(refused);
        }
        snapshots++;
        bytes += input.bytes();
      } catch (DamagedJournalException e) {
        damages.add(Damage.of(e));
      }
    }

    /** Reads the frames up to the head; returns the last. */
    private Chain frames(Head head) throws IOException {
      long next = head.first();
      // The frame before the first one is not kept, so its checksum is not known.
      @Nullable Chain before = next == 1 ? Chain.START : null;
      while (next <= head.chain().sequence()) {
        List<Row> rows = home.frames(next, SharedJournal.READ_BYTES);
        if (rows.isEmpty()) {
          missing(next, head.chain().sequence());
          return head.chain();
        }
        for (Row row : rows) {
          if (row.sequence() > head.chain().sequence()) {
            break;
          }
          if (next < row.sequence()) {
            missing(next, row.sequence() - 1);
            before = null;
            next = row.sequence();
          }
          before = frame(row, head, before);
          next++;
        }
      }
      if (before != null && !before.equals(head.chain()) && frames > 0) {
        damages.add(
            new Damage(
                SharedJournal.place(before.sequence()),
                0,
                "it is not the frame that the head of the store names"));
      }
      return head.chain();
    }

    private void missing(long first, long last) {
      String what =
          first == last
              ? "the frame is missing"
              : "this frame and the %d after it are missing".formatted(last - first);
      damages.add(new Damage(SharedJournal.place(first), 0, what));
    }

    /** Checks a frame and passes it on; returns the chain after it, null if it is damaged. */
    private @Nullable Chain frame(Row row, Head head, @Nullable Chain before) {
      String name = SharedJournal.place(row.sequence());
      ByteBuffer stored = row.frame().duplicate();
      bytes += stored.remaining();
      try {
        Frame frame = FrameCodec.decode(stored, head.journalId(), name, before);
        if (frame.sequence() != row.sequence()
            || frame.position() != row.position()
            || frame.timeMillis() != row.timeMillis()) {
          throw new DamagedJournalException(name, 0, "its row is that of another frame");
        }
        frames++;
        Chain after = Chain.START.after(frame, FrameCodec.checksum(stored, 0));
        try {
          contents.frame(frame);
        } catch (StoreException e) {
          damages.add(new Damage(name, 0, String.valueOf(e.getMessage())));
        }
        return after;
      } catch (DamagedJournalException e) {
        damages.add(Damage.of(e));
        return null;
      }
    }
  }

  @Override
  public void restore(InputStream snapshot, boolean replace) {
    RandomGenerator random = environment.newRandom();
    try (JournalHome home = location.connect()) {
      home.prepare(random);
      Head head = home.head();
      if (!head.isNew()) {
        if (!replace) {
          throw new OccupiedException(
              "there is a store in "
                  + location
                  + " already"
                  + (head.isIncomplete() ? ", which is not complete" : ""));
        }
        head = awaitNoLeader(home, head);
      }
      long upload = random.nextLong();
      if (!home.beginRestore(head, upload, random.nextLong())) {
        throw ledMeanwhile();
      }
      boolean ended = false;
      try {
        home.clear();
        write(home, snapshot, upload, head.chain().epoch());
        ended = true;
      } finally {
        if (!ended && head.isNew()) {
          home.endRestore(upload, Snapshot.NONE, Chain.START);
        }
      }
    } catch (IOException e) {
      throw SharedJournal.failed(location, "cannot be restored", e);
    }
  }

  private JournalException ledMeanwhile() {
    return new JournalException(
        "another server leads the store in " + location + ", or another copy to it was begun");
  }

  /** Waits until no leader can be alive; returns the head, which must not change any more. */
  private Head awaitNoLeader(JournalHome home, Head found) throws IOException {
    if (found.resigned()) {
      return found;
    }
    home.challenge(found);
    Head first = home.head();
    long lease = location.lease().toNanos();
    long from = environment.nanos();
    while (environment.nanos() - from < lease + lease / 10) {
      LockSupport.parkNanos(POLL_NANOS);
      Head now = home.head();
      if (now.resigned() && now.snapshot().equals(first.snapshot())) {
        return now;
      }
      if (!now.equals(first)) {
        throw ledMeanwhile();
      }
    }
    return first;
  }

  private void write(JournalHome home, InputStream stream, long upload, long epoch)
      throws IOException {
    SnapshotInput input = new SnapshotInput(stream, "the snapshot");
    Frame frame = input.frame();
    StoredSnapshots.Writer writer = new StoredSnapshots.Writer(home, frame, upload, true);
    boolean whole = false;
    try {
      for (ByteBuffer part = input.next(); part != null; part = input.next()) {
        writer.part(part);
      }
      writer.finish();
      // Later than that of every leader of the store that was replaced.
      Chain chain =
          new Chain(
              frame.sequence(),
              0,
              Math.max(frame.epoch(), epoch + 1),
              frame.position(),
              frame.timeMillis());
      if (!home.endRestore(upload, writer.snapshot(), chain)) {
        throw ledMeanwhile();
      }
      whole = true;
    } finally {
      if (!whole) {
        writer.abandon();
      }
    }
  }
}
