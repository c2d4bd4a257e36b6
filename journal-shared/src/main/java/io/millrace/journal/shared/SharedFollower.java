package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal.Replay;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.SnapshotInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads a journal from its newest snapshot, and goes on where it has ended. */
final class SharedFollower {
  private static final Logger LOG = LoggerFactory.getLogger(SharedJournal.class);

  /** How often a read is begun anew because the leader has removed a part of the journal. */
  private static final int ATTEMPTS = 10;

  private final JournalLocation location;
  private final JournalHome home;

  /** The last frame that was delivered, with its checksum if it is known. */
  private Chain followed = Chain.START;

  /** The identity of the journal that it was of; null before the first read. */
  private @Nullable Long journalId;

  /** The head at the end of the last read, until somebody takes it. */
  private @Nullable Head found;

  SharedFollower(JournalLocation location, JournalHome home) {
    this.location = location;
    this.home = home;
  }

  /** The head as the last read has found it, once for each read, or else as it is now. */
  Head head() throws IOException {
    Head last = found;
    found = null;
    return last == null ? home.head() : last;
  }

  /** Delivers everything up to the head, and returns the end. */
  Chain follow(Replay replay, long after) throws IOException {
    if (followed.sequence() != after) {
      followed = new Chain(after, 0, 0, 0, 0);
    }
    int attempts = 0;
    while (true) {
      Head head = SharedPlace.requireComplete(location, home.head());
      if (journalId != null && journalId != head.journalId()) {
        // A restore has replaced it.
        followed = Chain.START;
      } else if (head.chain().sequence() < followed.sequence()) {
        throw new DamagedJournalException(
            SharedJournal.place(followed.sequence()),
            0,
            "it was read before and is gone: the place went back to an earlier state");
      }
      journalId = head.journalId();
      long wanted = followed.sequence() + 1;
      if (followed.sequence() == 0 || wanted < head.first()) {
        if (++attempts > ATTEMPTS) {
          throw new JournalException(
              "the store in " + location + " removes frames faster than they are read");
        }
        if (!load(replay, head)) {
          continue;
        }
      }
      if (followed.sequence() >= head.chain().sequence()) {
        found = head;
        return followed;
      }
      List<Row> rows = home.frames(followed.sequence() + 1, SharedJournal.READ_BYTES);
      if (rows.isEmpty() && home.head().first() <= followed.sequence() + 1) {
        throw new DamagedJournalException(
            SharedJournal.place(followed.sequence() + 1), 0, "the frame is missing");
      }
      for (Row row : rows) {
        deliver(replay, row, head.journalId());
      }
    }
  }

  private void deliver(Replay replay, Row row, long journalId) {
    boolean known = followed.checksum() != 0 || followed.sequence() == 0;
    ByteBuffer bytes = row.frame().duplicate();
    Frame frame =
        FrameCodec.decode(
            bytes, journalId, SharedJournal.place(row.sequence()), known ? followed : null);
    if (frame.sequence() != followed.sequence() + 1) {
      throw new DamagedJournalException(
          SharedJournal.place(followed.sequence() + 1),
          0,
          "frame " + frame.sequence() + " is in its place");
    }
    replay.frame(frame);
    followed = followed.after(frame, FrameCodec.checksum(bytes, 0));
  }

  /**
   * Delivers the newest snapshot, or nothing if the frames begin with the first.
   *
   * @return false if the snapshots have changed meanwhile
   */
  private boolean load(Replay replay, Head head) throws IOException {
    @Nullable RuntimeException damage = null;
    for (Snapshot snapshot : List.of(head.snapshot(), head.older())) {
      if (snapshot.sequence() == 0) {
        continue;
      }
      replay.reset();
      try {
        SnapshotInput input = StoredSnapshots.read(home, snapshot);
        for (ByteBuffer part = input.next(); part != null; part = input.next()) {
          replay.snapshotPart(part).run();
        }
        followed = new Chain(snapshot.sequence(), 0, 0, input.frame().position(), 0);
        return true;
      } catch (IOException e) {
        throw SharedJournal.failed(location, "cannot be read", e);
      } catch (DamagedJournalException e) {
        Head now = home.head();
        if (!now.snapshot().equals(head.snapshot())) {
          return false;
        }
        LOG.warn(
            "{}: {} is skipped: {}",
            location,
            SharedJournal.place(snapshot.sequence()),
            e.getMessage());
        damage = e;
      }
    }
    replay.reset();
    followed = Chain.START;
    if (head.first() > 1) {
      throw damage != null
          ? damage
          : new DamagedJournalException(
              SharedJournal.place(1), 0, "the snapshot before the frames is missing");
    }
    return true;
  }
}
