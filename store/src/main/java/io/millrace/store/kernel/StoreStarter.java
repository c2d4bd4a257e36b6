package io.millrace.store.kernel;

import io.millrace.store.StandbyStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.snapshots.Backups;
import io.millrace.store.kernel.state.State;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Opens and restores stores; a store that is opened is a {@link Replica} that is promoted. */
public final class StoreStarter {
  private StoreStarter() {}

  /** Opens a store with files; see {@link TaskStore#open(StoreOptions)}. */
  public static EmbeddedStore open(StoreOptions options) {
    Journal journal =
        FileJournal.open(
            options.environment(),
            options.folder(),
            FileJournalOptions.DEFAULTS
                .withRetention(options.upkeep().retention())
                .withReserveBytes(options.upkeep().diskReserveBytes()));
    try {
      return open(options, journal, State.NODE_CAPACITY);
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  /** Opens a store with any journal; see {@link TaskStore#open(StoreOptions, Journal)}. */
  public static EmbeddedStore open(StoreOptions options, Journal journal) {
    return open(options, journal, State.NODE_CAPACITY);
  }

  /** A standby of a store whose journal other processes may lead; see {@link TaskStore#standby}. */
  public static StandbyStore standby(
      StoreOptions options, Supplier<? extends Journal> journals, @Nullable String address) {
    return new Standby(options, journals, address);
  }

  /** Creates a store from a backup; see {@link TaskStore#restore}. */
  public static long restore(Environment environment, Path folder, InputStream backup) {
    return Backups.restore(environment, folder, backup);
  }

  /**
   * Opens a store with any journal and another size of tree nodes. With small nodes, trees split
   * and join with a few dozen tasks instead of thousands, which simulations use.
   *
   * @param nodeCapacity the largest number of elements of a node, at least 4; normally 64
   * @throws IllegalArgumentException if {@code nodeCapacity} is smaller
   */
  public static EmbeddedStore open(StoreOptions options, Journal journal, int nodeCapacity) {
    return new Replica(options, journal, nodeCapacity).promote();
  }
}
