package io.millrace.store.journal.files;

import io.millrace.store.journal.DamagedJournalException;
import java.util.List;

/**
 * What {@link JournalCheck} found in a folder.
 *
 * @param segments the number of segment files
 * @param frames the number of whole frames in them
 * @param snapshots the number of whole snapshots
 * @param firstSequence the first frame that is kept, 0 for none
 * @param lastSequence the last frame or the frame of the newest snapshot, whichever is later; 0 for
 *     an empty journal
 * @param lastPosition the number of commits up to there
 * @param lastEpoch the epoch of that frame
 * @param lastTimeMillis its store time
 * @param bytes the size of all files of the journal
 * @param notices what is unusual but does no harm, in words
 * @param damages what cannot be read although it should be; empty for a sound journal
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
   * Something that cannot be read.
   *
   * @param file the name of the file, or of the file that is missing
   * @param offset where in it the damage begins, in bytes
   * @param what in words
   */
  public record Damage(String file, long offset, String what) {
    static Damage of(DamagedJournalException e) {
      return new Damage(e.file(), e.offset(), e.what());
    }
  }

  public JournalReport {
    notices = List.copyOf(notices);
    damages = List.copyOf(damages);
  }

  /** Whether nothing is damaged. A damaged snapshot counts, though a journal may do without. */
  public boolean isSound() {
    return damages.isEmpty();
  }
}
