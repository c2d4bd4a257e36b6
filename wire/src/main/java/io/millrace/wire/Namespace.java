package io.millrace.wire;

import java.util.Set;

/**
 * The first part of the name of a group or a collection, up to the first slash or dot: it says whom
 * they belong to.
 */
public final class Namespace {
  /** Those of the systems on the store. */
  private static final Set<String> SYSTEMS =
      Set.of(
          "access",
          "archive",
          "audit",
          "bulk",
          "cluster",
          "graph",
          "jobs",
          "limits",
          "queues",
          "schedules");

  /** Of these, those that a store has once, whatever its shards. */
  private static final Set<String> OF_ALL_SHARDS = Set.of("access", "audit", "cluster");

  private Namespace() {}

  /** The namespace of a group or a collection: all of its name if it has no slash and no dot. */
  public static String of(String name) {
    int end = 0;
    while (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '/') {
      end++;
    }
    return name.substring(0, end);
  }

  /** Whether it belongs to one of the systems on the store, such as queues, and not to programs. */
  public static boolean isOfSystem(String namespace) {
    return SYSTEMS.contains(namespace);
  }

  /** Whether it belongs to a system that all shards of a store have together. */
  public static boolean isOfAllShards(String namespace) {
    return OF_ALL_SHARDS.contains(namespace);
  }
}
