package io.millrace.graph;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list as it was at one moment.
 *
 * @param items what is on this page
 * @param view what all pages of this list share, as {@code pid} in the API
 * @param next where the next page starts; null for the last one
 * @param version that of the graph at the moment of the list, from which changes can be followed
 */
public record Page<T>(List<T> items, String view, @Nullable String next, long version) {
  /**
   * Which page of which list is wanted.
   *
   * @param view that of the first page
   * @param start what the page before named as its next
   */
  public record Wanted(String view, String start) {}

  /** Copies the items. */
  public Page {
    items = List.copyOf(items);
  }
}
