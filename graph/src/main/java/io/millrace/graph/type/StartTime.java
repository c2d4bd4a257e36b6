package io.millrace.graph.type;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.Timing;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * The time before which nothing of a graph starts. The nodes with which the graph begins get it as
 * the earliest time of their first start, so that it is stored with them, and whatever applies to
 * such a time applies to that of the graph.
 *
 * <p>A graph begins with the nodes that need not wait for another node of it. Groups have no times:
 * one that is to start at once does so, and the nodes in it wait.
 */
public final class StartTime {
  private final List<NewNode> nodes;

  /** The places of the nodes that others may refer to, by their local names. */
  private final Map<String, Integer> places = new HashMap<>();

  /** The nodes that are in a group, directly, by the local name of the group. */
  private final Map<String, List<Integer>> members = new HashMap<>();

  /** Whether nodes end no sooner than the time, as far as that is known; guards against circles. */
  private final Map<Integer, Boolean> late = new HashMap<>();

  private StartTime(List<NewNode> nodes) {
    this.nodes = nodes;
    for (int i = 0; i < nodes.size(); i++) {
      String local = nodes.get(i).local();
      if (local != null) {
        places.putIfAbsent(local, i);
      }
      for (NodeRef parent : nodes.get(i).place().parents()) {
        if (parent instanceof NodeRef.Local(String name)) {
          members.computeIfAbsent(name, _ -> new ArrayList<>()).add(i);
        }
      }
    }
  }

  /**
   * Nodes that are added together, none of which starts before a time. A node that has a later time
   * of its own keeps it; the delay of a node below the root counts from the time of the graph.
   *
   * @param nodes in any order; mistakes in them are left to the graph
   */
  public static List<NewNode> at(Instant time, List<NewNode> nodes) {
    StartTime start = new StartTime(nodes);
    List<NewNode> timed = new ArrayList<>(nodes.size());
    for (int i = 0; i < nodes.size(); i++) {
      NewNode node = nodes.get(i);
      boolean begins = !isGroup(node) && !start.waits(node);
      timed.add(begins ? at(time.toEpochMilli(), node) : node);
    }
    return timed;
  }

  private static NewNode at(long millis, NewNode node) {
    Timing timing;
    try {
      timing = RunPolicy.timing(node.data());
    } catch (InvalidGraphException _) {
      return node;
    }
    boolean first = node.place().parents().isEmpty() && node.place().after().isEmpty();
    long start = Math.max(timing.atMillis(), millis + (first ? timing.delayMillis() : 0));
    Map<String, JsonNode> data = new HashMap<>(node.data());
    data.put(RunPolicy.AT, StringNode.valueOf(Instant.ofEpochMilli(start).toString()));
    return new NewNode(node.local(), node.name(), node.type(), node.place(), node.always(), data);
  }

  private static boolean isGroup(NewNode node) {
    return node.type().equals(StandardTypes.GROUP);
  }

  /** Whether a node starts after another one of the graph that does not start, or end, early. */
  private boolean waits(NewNode node) {
    return node.place().parents().stream().anyMatch(parent -> isLate(parent, true))
        || node.place().after().stream().anyMatch(before -> isLate(before, false));
  }

  /**
   * Whether what is above a node keeps it waiting.
   *
   * @param contains whether the node is in it if it is a group, so that its start is enough
   */
  private boolean isLate(NodeRef above, boolean contains) {
    Integer place = above instanceof NodeRef.Local(String name) ? places.get(name) : null;
    if (place == null) {
      return false;
    }
    NewNode node = nodes.get(place);
    if (!isGroup(node)) {
      return true;
    }
    return contains ? waitsOnce(-1 - place, node) : endsLate(place, node);
  }

  private boolean waitsOnce(int mark, NewNode node) {
    Boolean known = late.putIfAbsent(mark, false);
    if (known != null) {
      return known;
    }
    boolean waits = waits(node);
    late.put(mark, waits);
    return waits;
  }

  /** Whether a group starts late, or has a node that does. */
  private boolean endsLate(int place, NewNode group) {
    Boolean known = late.putIfAbsent(place, false);
    if (known != null) {
      return known;
    }
    boolean ends =
        waitsOnce(-1 - place, group)
            || members.getOrDefault(group.local(), List.of()).stream()
                .anyMatch(
                    member -> !isGroup(nodes.get(member)) || endsLate(member, nodes.get(member)));
    late.put(place, ends);
    return ends;
  }
}
