package io.millrace.archive;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Finished work of one kind, which leaves the store for the archive. Implemented by the layers. For
 * use by one thread.
 */
public interface ArchiveSource {
  /** The table of its rows. */
  ArchiveTable table();

  /**
   * What may leave the store now.
   *
   * @param now the time by which the age of an item counts
   * @param most the most items, unless more of them can only leave together
   */
  Due due(Instant now, int most);

  /**
   * Removes the items from the store that {@link #due} gave last, each unless it has changed since.
   *
   * @param ids their ids
   * @return the ids of those that were not removed, because they have changed or are gone
   */
  Set<String> remove(List<String> ids);

  /** Those of these items that are in the store. */
  Set<String> present(Collection<String> ids);

  /**
   * What {@link #due} found.
   *
   * @param parts the items, without the column {@link ArchiveTable#ARCHIVED}; they leave together.
   *     None though there may be more to look at. Read once, part by part
   * @param again when to ask again
   */
  record Due(Iterable<List<ArchiveRow>> parts, Instant again) {
    /** Items that are few enough for one part. */
    public static Due of(List<ArchiveRow> rows, Instant again) {
      return new Due(rows.isEmpty() ? List.of() : List.of(rows), again);
    }
  }
}
