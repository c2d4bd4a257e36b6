package io.millrace.cli.graph.file;

import io.millrace.server.config.EditDistance;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether what nodes of a file say of each other makes sense. */
final class References {
  private final Map<String, FileNode> nodes = new LinkedHashMap<>();
  private final List<Mistake> mistakes;

  private References(List<FileNode> all, List<Mistake> mistakes) {
    this.mistakes = mistakes;
    all.forEach(node -> nodes.put(node.key(), node));
  }

  /**
   * Looks at all of them.
   *
   * @param mistakes takes what is wrong
   */
  static void check(List<FileNode> nodes, List<Mistake> mistakes) {
    References references = new References(nodes, mistakes);
    nodes.forEach(references::checkNames);
    nodes.forEach(references::checkBranch);
    references.checkCycles();
  }

  /** What a node waits for. */
  static List<String> above(FileNode node) {
    List<String> above = new ArrayList<>(node.place().parents());
    above.addAll(node.place().after());
    return above;
  }

  private void checkNames(FileNode node) {
    Set<String> seen = new HashSet<>();
    for (String name : above(node)) {
      if (!nodes.containsKey(name)) {
        mistakes.add(
            new Mistake(
                node.line(),
                "the node '%s' names '%s', which is not in this file; did you mean '%s'?"
                    .formatted(node.key(), name, EditDistance.nearest(name, nodes.keySet()))));
      } else if (!seen.add(name)) {
        mistakes.add(
            new Mistake(node.line(), "the node '" + node.key() + "' names '" + name + "' twice"));
      }
    }
  }

  private void checkBranch(FileNode node) {
    boolean condition = false;
    for (String name : node.place().parents()) {
      FileNode parent = nodes.get(name);
      // One of a type that is not known, or that is missing, may be one.
      condition |=
          parent == null
              || parent.type().equals(TypeKeys.CONDITION)
              || TypeKeys.inputs(parent.type()).isEmpty();
    }
    if (!node.place().branch().isEmpty() && !condition) {
      mistakes.add(
          new Mistake(
              node.line(),
              "the node '"
                  + node.key()
                  + "' is on a branch, and none of its parents is a condition"));
    }
  }

  /** A walk along what nodes wait for, without recursion, since chains may be long. */
  private void checkCycles() {
    Map<String, Boolean> open = new HashMap<>();
    for (String first : nodes.keySet()) {
      if (!open.containsKey(first) && !walk(first, open)) {
        return;
      }
    }
  }

  private record Step(String name, Iterator<String> left) {}

  private boolean walk(String first, Map<String, Boolean> open) {
    List<Step> path = new ArrayList<>();
    enter(first, path, open);
    while (!path.isEmpty()) {
      Step step = path.getLast();
      if (!step.left.hasNext()) {
        open.put(step.name, false);
        path.removeLast();
        continue;
      }
      String next = step.left.next();
      Boolean state = open.get(next);
      if (state == null) {
        enter(next, path, open);
      } else if (state) {
        tell(path.stream().map(Step::name).toList(), next);
        return false;
      }
    }
    return true;
  }

  private void enter(String name, List<Step> path, Map<String, Boolean> open) {
    FileNode node = nodes.get(name);
    open.put(name, true);
    path.add(new Step(name, node == null ? List.<String>of().iterator() : above(node).iterator()));
  }

  private void tell(List<String> path, String again) {
    List<String> circle = new ArrayList<>(path.subList(path.indexOf(again), path.size()));
    circle.add(again);
    FileNode node = nodes.get(again);
    mistakes.add(
        new Mistake(
            node == null ? 1 : node.line(),
            "these nodes wait for each other: " + String.join(" for ", circle)));
  }
}
