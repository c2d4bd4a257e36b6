package io.millrace.queues.node;

import java.util.Set;

/** The plugins that a node can run. For use by one node. */
@FunctionalInterface
public interface Plugins {
  /** The names that are found without being asked for, to be shown to others. */
  Set<String> names();

  /** Whether a plugin of this name can be run. Those of {@link #names} can. */
  default boolean has(String name) {
    return names().contains(name);
  }

  /**
   * A mark that differs after something has come, gone or changed. Asked every second, so it
   * answers quickly; names are asked for again when it differs.
   */
  default String mark() {
    return names().toString();
  }
}
