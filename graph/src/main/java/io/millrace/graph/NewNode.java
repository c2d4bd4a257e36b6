package io.millrace.graph;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node to add; its parts are those of {@link Definition}.
 *
 * @param local by which other nodes of the request may name it; null for none
 * @param type the name of its type
 * @param kind what the graph knows of that type
 * @param place what it is below and comes after
 * @param always whether it runs however what is above it ended
 */
public record NewNode(@Nullable String local, String type, Kind kind, Place place, boolean always) {

  /**
   * Where it goes.
   *
   * @param parents what it is below; empty for the root
   * @param after what else must have finished
   * @param branch on which branch of a condition; null for both
   */
  public record Place(List<NodeRef> parents, List<NodeRef> after, @Nullable Branch branch) {
    /** Directly below the root. */
    public static final Place ROOT = new Place(List.of(), List.of(), null);

    /** Copies the lists. */
    public Place {
      parents = List.copyOf(parents);
      after = List.copyOf(after);
    }
  }
}
