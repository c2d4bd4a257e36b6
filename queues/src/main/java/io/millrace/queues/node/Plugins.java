package io.millrace.queues.node;

import io.millrace.queues.plugin.PluginDeclaration;
import java.util.Map;
import java.util.Set;

/** The plugins that a node can run. For use by one node. */
@FunctionalInterface
public interface Plugins {
  /** The names of the plugins that are found in it, to be shown to users. */
  Set<String> names();

  /** What these plugins declare, by their names; those that declare nothing are left out. */
  default Map<String, PluginDeclaration> declarations() {
    return Map.of();
  }

  /** Whether a plugin of this name can be run. This is true for all {@link #names}. */
  default boolean has(String name) {
    return names().contains(name);
  }

  /**
   * A mark that changes when a plugin is added, removed or changed. It is read every second, so it
   * must be fast; if it differs, the names are read again.
   */
  default String mark() {
    return names().toString();
  }
}
