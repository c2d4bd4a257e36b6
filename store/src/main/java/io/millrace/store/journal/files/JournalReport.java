package io.millrace.store.journal.files;

import io.millrace.store.journal.DamagedJournalException;
import java.util.List;

/**
 * The result of {@link JournalCheck}.
 *
 * @param segments the number of segment files; 0 for a database or a backup
 * @param frames the number of complete frames
 * @param snapshots the number of complete snapshots
 * @param firstSequence the first frame that is kept, 0 for none
 * @param lastSequence the last frame or the frame of the newest snapshot, whichever is later; 0 for
 *     an empty journal
 * @param lastPosition the number of commits up to that frame
 * @param lastEpoch the epoch of that frame
 * @param lastTimeMillis its store time
 * @param bytes the size of everything that was read
 * @param notices unusual but harmless findings, for people
 * @param damages parts that should be readable but are not; empty for a sound journal
 */
public record JournalReport(
    int segments,
    long frames,
    int snapshots,
    long firstSequence,
    long lastSequence,
    long lastPosition,
    long lastEpoch,
    long lastTimeMillis,
    long bytes,
    List<String> notices,
    List<Damage> damages) {
  /**
   * An unreadable part.
   *
   * @param file the name of the damaged or missing file; in a database, the frame or snapshot
   * @param offset where the damage begins in it, in bytes
   * @param what what is wrong, for people
   */
  public record Damage(String file, long offset, String what) {
    /** The damage that a reader has found. */
    public static Damage of(DamagedJournalException e) {
      return new Damage(e.file(), e.offset(), e.what());
    }
  }

  public JournalReport {
    notices = List.copyOf(notices);
    damages = List.copyOf(damages);
  }

  /** Whether nothing is damaged. A damaged snapshot counts, even if recovery does not need it. */
  public boolean isSound() {
    return damages.isEmpty();
  }
}
