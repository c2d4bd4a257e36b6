package io.millrace.graph;

import io.millrace.store.Throttling.Limit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limits under which the attempts of a node start, and its turn among the nodes that have the
 * same limits. Immutable.
 *
 * @param names the names of shared limits, which queues and job types may name too, at most 16, in
 *     alphabetical order; none if nothing limits the node. A name without a limit limits nothing
 * @param key for whom the node works: the keys take turns; null for none
 * @param priority from 0, the lowest and the default, to 9; a minute of waiting is worth a level
 * @param perKey how many nodes of each key run at a time and start in a time, of those that have
 *     the same names and the same limit of each key
 */
public record NodeLimits(List<String> names, @Nullable String key, int priority, Limit perKey) {
  /** Nothing limits the node. */
  public static final NodeLimits NONE = new NodeLimits(List.of(), null, 0, Limit.NONE);

  /** Sorts the names. */
  public NodeLimits {
    names = names.stream().sorted().toList();
  }

  /** Whether nothing limits the node. */
  public boolean isNone() {
    return names.isEmpty() && perKey.equals(Limit.NONE);
  }
}
