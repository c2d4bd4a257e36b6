package io.millrace.work.bulk;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a bulk action is to do.
 *
 * @param kind the kind of its items, see {@link BulkTarget#kind}
 * @param action what is done to each, see {@link BulkTarget#actions}
 * @param filter chooses the items; not to be changed
 * @param options details of the action, for example the queue to which tasks are moved
 * @param reach prefixes or ids to which the caller is limited, as the target understands them; null
 *     for no limit
 */
public record BulkOrder(
    String kind,
    String action,
    ObjectNode filter,
    Map<String, String> options,
    @Nullable Set<String> reach) {
  /** Copies the options and the reach. */
  public BulkOrder {
    options = Collections.unmodifiableMap(new TreeMap<>(options));
    reach = reach == null ? null : Set.copyOf(reach);
  }

  /** The same with another filter. */
  public BulkOrder with(ObjectNode other) {
    return new BulkOrder(kind, action, other, options, reach);
  }

  /** The same with other options. */
  public BulkOrder with(Map<String, String> others) {
    return new BulkOrder(kind, action, filter, others, reach);
  }
}
