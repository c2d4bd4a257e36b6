package io.millrace.access;

import io.millrace.access.AccessException.InvalidAccessException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The part of a server to which the roles of a principal are limited, by prefixes of names. An
 * empty prefix includes every name; a kind of thing without a prefix is out of reach. Immutable.
 *
 * @param groups prefixes of groups of tasks, and of collections of documents, in the store
 * @param queues prefixes of names of queues
 * @param types prefixes of job types
 * @param graph ids of graph nodes, each with everything below it; empty text for the whole graph
 * @param blobs prefixes of names of blobs
 * @param cluster prefixes of names of locks, permits, partitions and reports of a cluster; with any
 *     of them leader and members are in reach too
 */
public record Reach(
    Set<String> groups,
    Set<String> queues,
    Set<String> types,
    Set<String> graph,
    Set<String> blobs,
    Set<String> cluster) {
  private static final int MAX_PREFIXES = 100;
  private static final int LONGEST_PREFIX = 512;
  private static final Pattern NODE = Pattern.compile("([1-9][0-9]{0,15})?");

  /** No limit. */
  public static final Reach EVERYTHING =
      new Reach(Set.of(""), Set.of(""), Set.of(""), Set.of(""), Set.of(""), Set.of(""));

  /** Nothing. */
  public static final Reach NOTHING = new Reach(Set.of(), Set.of(), Set.of(), Set.of());

  /**
   * With these prefixes, in order.
   *
   * @throws InvalidAccessException if there are too many, if one is too long, or if one is no id of
   *     a graph node
   */
  public Reach {
    groups = checked("groups", groups);
    queues = checked("queues", queues);
    types = checked("types", types);
    graph = checked("graph", graph);
    // What was stored before these kinds were known has none of them.
    blobs = blobs == null ? Set.of() : checked("blobs", blobs);
    cluster = cluster == null ? Set.of() : checked("cluster", cluster);
    for (String node : graph) {
      if (!NODE.matcher(node).matches()) {
        throw new InvalidAccessException(
            "a reach into the graph names ids of nodes, not \"" + node + "\"");
      }
    }
  }

  /** Without blobs and the cluster. */
  public Reach(Set<String> groups, Set<String> queues, Set<String> types, Set<String> graph) {
    this(groups, queues, types, graph, Set.of(), Set.of());
  }

  private static Set<String> checked(String kind, Collection<String> prefixes) {
    if (prefixes.size() > MAX_PREFIXES) {
      throw new InvalidAccessException(
          "a reach has at most " + MAX_PREFIXES + " prefixes of " + kind);
    }
    for (String prefix : prefixes) {
      if (prefix.length() > LONGEST_PREFIX) {
        throw new InvalidAccessException(
            "a prefix of " + kind + " has at most " + LONGEST_PREFIX + " characters");
      }
    }
    return Collections.unmodifiableSet(new TreeSet<>(prefixes));
  }

  /** Whether there is no limit. */
  public boolean coversEverything() {
    return List.of(groups, queues, types, graph, blobs, cluster).stream()
        .allMatch(each -> each.contains(""));
  }

  /** Whether one of these prefixes begins this name. */
  public static boolean includes(Set<String> prefixes, String name) {
    for (String prefix : prefixes) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }
}
