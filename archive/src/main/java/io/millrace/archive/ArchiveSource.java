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
   * @param most the most items
   */
  Due due(Instant now, int most);

  /**
   * Removes items from the store that {@link #due} gave last, each unless it has changed since.
   *
   * @return the ids of those that were not removed, because they have changed or are gone
   */
  Set<String> remove(List<ArchiveRow> rows);

  /** Those of these items that are in the store. */
  Set<String> present(Collection<String> ids);

  /**
   * What {@link #due} found.
   *
   * @param rows the items, without the column {@link ArchiveTable#ARCHIVED}; may be empty though
   *     there is more to look at
   * @param again when to ask again
   */
  record Due(List<ArchiveRow> rows, Instant again) {}
}
