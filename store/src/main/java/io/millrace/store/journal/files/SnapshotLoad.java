package io.millrace.store.journal.files;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Loads the newest complete snapshot whose following frames exist. A snapshot is checked while it
 * is loaded; if it is damaged, the replay starts again with the one before it.
 */
final class SnapshotLoad {
  private final Environment environment;
  private final Storage storage;
  private final Journal.Replay replay;
  private final Consumer<String> notices;

  /**
   * A load.
   *
   * @param replay receives the parts
   * @param notices receives warnings about skipped snapshots
   */
  SnapshotLoad(
      Environment environment, Storage storage, Journal.Replay replay, Consumer<String> notices) {
    this.environment = environment;
    this.storage = storage;
    this.replay = replay;
    this.notices = notices;
  }

  /**
   * Loads one of these snapshots.
   *
   * @param sequences the frames of the snapshots, ascending
   * @param firstSegment the first frame of the oldest segment; {@link Long#MAX_VALUE} for no
   *     segments
   * @return the frame of the snapshot; {@link Chain#START} for no snapshot
   * @throws DamagedJournalException if one is needed and none can be loaded, or if a complete one
   *     has invalid content
   */
  Chain newest(List<Long> sequences, long firstSegment) throws IOException {
    @Nullable DamagedJournalException newestDamage = null;
    for (long sequence : sequences.reversed()) {
      String name = FileNames.snapshot(sequence);
      @Nullable DamagedJournalException meaningless;
      try (DiskFile file = storage.read(name)) {
        SnapshotInput input = SnapshotInput.of(file, sequence);
        check(input, sequence, firstSegment);
        meaningless = load(input, name);
        if (meaningless == null) {
          return Chain.START.after(input.frame(), 0);
        }
      } catch (DamagedJournalException damage) {
        if (newestDamage == null) {
          newestDamage = damage;
        }
        notices.accept("the snapshot " + name + " was skipped (" + damage.getMessage() + ")");
        replay.reset();
        continue;
      }
      throw meaningless;
    }
    if (firstSegment == 1 || (sequences.isEmpty() && firstSegment == Long.MAX_VALUE)) {
      return Chain.START;
    }
    if (newestDamage != null) {
      throw newestDamage;
    }
    throw new DamagedJournalException(
        FileNames.segment(firstSegment), 0, "the segments or the snapshot before it are missing");
  }

  private static void check(SnapshotInput input, long sequence, long firstSegment) {
    if (firstSegment > sequence + 1 && !(input.standsAlone() && firstSegment == Long.MAX_VALUE)) {
      throw new DamagedJournalException(
          FileNames.segment(sequence + 1), 0, "the segment after the snapshot is missing");
    }
  }

  /**
   * Adds all parts to the state.
   *
   * @return the first part with a right checksum and invalid content; null for none
   * @throws DamagedJournalException if the snapshot is not complete
   */
  private @Nullable DamagedJournalException load(SnapshotInput input, String name)
      throws IOException {
    @Nullable DamagedJournalException meaningless = null;
    try (SnapshotPrefetcher parts = new SnapshotPrefetcher(environment, input, replay)) {
      for (Optional<SnapshotPrefetcher.Part> next = parts.next();
          next.isPresent();
          next = parts.next()) {
        SnapshotPrefetcher.Part part = next.get();
        try {
          if (meaningless == null) {
            part.put().run();
          }
        } catch (StoreException e) {
          meaningless =
              new DamagedJournalException(
                  name, part.at(), "part " + part.number() + ": " + e.getMessage(), e);
        }
      }
      return meaningless;
    } catch (CompletionException e) {
      throw plain(e);
    }
  }

  /** Rethrows an exception of the reading thread. */
  private static IOException plain(CompletionException e) throws IOException {
    return switch (e.getCause()) {
      case IOException failure -> failure;
      case RuntimeException failure -> throw failure;
      case Error failure -> throw failure;
      case null, default -> throw e;
    };
  }
}
