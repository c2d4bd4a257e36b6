package io.millrace.store.journal;

import io.millrace.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The newest snapshot that is whole and from which the journal goes on.
 *
 * @param base the state that it holds; {@link Chain#START} for no snapshot
 * @param name its file; null for none
 */
record SnapshotChoice(Chain base, @Nullable String name) {
  private static final SnapshotChoice NONE = new SnapshotChoice(Chain.START, null);

  /**
   * Chooses among snapshot files.
   *
   * @param sequences theirs, ascending
   * @param firstSegment the first frame of the oldest segment; {@link Long#MAX_VALUE} for no
   *     segments
   * @param notices takes what is said of those passed over
   */
  static SnapshotChoice choose(
      Storage storage, List<Long> sequences, long firstSegment, Consumer<String> notices)
      throws IOException {
    @Nullable DamagedJournalException newestDamage = null;
    for (long sequence : sequences.reversed()) {
      String name = FileNames.snapshot(sequence);
      try {
        Chain base = verify(storage, sequence, firstSegment);
        return new SnapshotChoice(base, name);
      } catch (DamagedJournalException damage) {
        if (newestDamage == null) {
          newestDamage = damage;
        }
        notices.accept("the snapshot " + name + " was passed over (" + damage.getMessage() + ")");
      }
    }
    if (firstSegment == 1 || (sequences.isEmpty() && firstSegment == Long.MAX_VALUE)) {
      return NONE;
    }
    if (newestDamage != null) {
      throw newestDamage;
    }
    throw new DamagedJournalException(
        FileNames.segment(firstSegment), 0, "the segments or the snapshot before it are missing");
  }

  private static Chain verify(Storage storage, long sequence, long firstSegment)
      throws IOException {
    String name = FileNames.snapshot(sequence);
    try (InputStream stream = new DiskFileInput(storage.open(name))) {
      SnapshotInput input = new SnapshotInput(stream, name);
      if (input.frame().sequence() != sequence) {
        throw new DamagedJournalException(
            name, 8, "this is the snapshot of frame " + input.frame().sequence());
      }
      input.readToEnd();
      if (firstSegment > sequence + 1 && !(input.standsAlone() && firstSegment == Long.MAX_VALUE)) {
        throw new DamagedJournalException(
            FileNames.segment(sequence + 1), 0, "the segment after the snapshot is missing");
      }
      return Chain.START.after(input.frame(), 0);
    }
  }

  /** Delivers its parts. */
  void deliver(Storage storage, Consumer<ByteBuffer> parts) throws IOException {
    if (name == null) {
      return;
    }
    try (InputStream stream = new DiskFileInput(storage.open(name))) {
      SnapshotInput input = new SnapshotInput(stream, name);
      long at = input.offset();
      for (ByteBuffer part = input.next(); part != null; part = input.next()) {
        try {
          parts.accept(part);
        } catch (StoreException e) {
          throw new DamagedJournalException(
              name, at, "part " + (input.parts() - 1) + ": " + e.getMessage(), e);
        }
        at = input.offset();
      }
    }
  }
}
