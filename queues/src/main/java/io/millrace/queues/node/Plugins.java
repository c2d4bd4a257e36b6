package io.millrace.queues.node;

import java.util.Set;

/** The plugins that a node can run. For use by one node. */
@FunctionalInterface
public interface Plugins {
  /**
   * Their names as they are now: built-in and found ones. Asked every second, so it answers
   * quickly, and a plugin that came or went is noticed.
   */
  Set<String> names();
}
