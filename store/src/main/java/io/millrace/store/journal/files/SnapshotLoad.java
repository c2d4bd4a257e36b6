package io.millrace.store.journal.files;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Loads the newest snapshot that is whole and from which the journal goes on. It is checked while
 * it is loaded: if it turns out damaged, the replay begins anew with the one before it.
 */
final class SnapshotLoad {
  private final Environment environment;
  private final Storage storage;
  private final Journal.Replay replay;
  private final Consumer<String> notices;

  /**
   * A load.
   *
   * @param replay takes the parts
   * @param notices takes what is said of snapshots that are passed over
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
   * @param sequences theirs, ascending
   * @param firstSegment the first frame of the oldest segment; {@link Long#MAX_VALUE} for no
   *     segments
   * @return the state that was loaded; {@link Chain#START} for no snapshot
   * @throws DamagedJournalException when none can be loaded although one is needed, or one that is
   *     whole holds what means nothing
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
        notices.accept("the snapshot " + name + " was passed over (" + damage.getMessage() + ")");
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
   * Puts all parts into the state.
   *
   * @return the first part that means nothing although its checksum is right; null for none
   * @throws DamagedJournalException when the snapshot is not whole, whatever its parts mean
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

  /** What happened on the thread that reads, as if it had happened here. */
  private static IOException plain(CompletionException e) throws IOException {
    return switch (e.getCause()) {
      case IOException failure -> failure;
      case RuntimeException failure -> throw failure;
      case Error failure -> throw failure;
      case null, default -> throw e;
    };
  }
}
