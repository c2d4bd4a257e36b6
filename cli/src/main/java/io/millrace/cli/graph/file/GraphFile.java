package io.millrace.cli.graph.file;

import io.millrace.cli.graph.file.GraphFileException.Mistakes;
import io.millrace.server.config.EditDistance;
import io.millrace.server.config.Yaml;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A valid graph from a file: all keys are known, every node is defined once, and there are no
 * cycles.
 *
 * @param nodes in the order of the file
 */
public record GraphFile(List<FileNode> nodes) {
  private static final List<String> KEYS = List.of("nodes", "defaults");

  public GraphFile {
    nodes = List.copyOf(nodes);
  }

  /**
   * Reads a graph file.
   *
   * @param text YAML or JSON
   * @param folder the folder that relative paths in the file refer to
   * @throws GraphFileException with all mistakes
   */
  public static GraphFile read(String text, Path folder) {
    Yaml root;
    try {
      root = Yaml.read(text);
    } catch (Yaml.Mistake e) {
      throw new GraphFileException(e.line(), e.problem());
    }
    if (!(root instanceof Yaml.Fields top)) {
      int line = root == null ? 1 : root.line();
      throw new GraphFileException(
          line, "a graph file begins with 'nodes:' and has a key for each node below it");
    }
    Mistakes mistakes = new Mistakes();
    Keys keys = new Keys(top, "a graph file", KEYS, mistakes);
    NodeReader reader = new NodeReader(folder, keys.find("defaults"), mistakes);
    List<FileNode> nodes = nodes(keys.find("nodes"), top.line(), reader, mistakes);
    References.check(nodes, mistakes);
    mistakes.check();
    return new GraphFile(nodes);
  }

  /** The keys of the nodes that a node waits for. */
  public static List<String> above(FileNode node) {
    return References.above(node);
  }

  private static List<FileNode> nodes(
      @Nullable Yaml given, int line, NodeReader reader, Mistakes mistakes) {
    if (!(given instanceof Yaml.Fields named) || named.fields().isEmpty()) {
      int where = given == null ? line : given.line();
      mistakes.add(where, "there are no nodes; write them as keys below 'nodes:'");
      return List.of();
    }
    Map<String, Integer> lines = new LinkedHashMap<>();
    List<FileNode> nodes = new ArrayList<>();
    for (Yaml.Field field : named.fields()) {
      Integer before = lines.putIfAbsent(field.key(), field.line());
      if (before != null) {
        mistakes.add(
            field.line(), "the node '" + field.key() + "' is already defined on line " + before);
      } else {
        nodes.add(reader.read(field));
      }
    }
    return nodes;
  }

  /** What follows a word that is not known. */
  private static String suggestion(String word, Collection<String> known, String quote) {
    String near = EditDistance.suggestion(word, known);
    return near == null ? "" : "; did you mean " + quote + near + quote + "?";
  }

  /** Checks the relations between the nodes of a file. */
  private static final class References {
    private final Map<String, FileNode> nodes = new LinkedHashMap<>();
    private final Mistakes mistakes;

    private References(List<FileNode> all, Mistakes mistakes) {
      this.mistakes = mistakes;
      all.forEach(node -> nodes.put(node.key(), node));
    }

    /**
     * Checks all nodes.
     *
     * @param mistakes receives the mistakes
     */
    static void check(List<FileNode> nodes, Mistakes mistakes) {
      References references = new References(nodes, mistakes);
      nodes.forEach(references::checkNames);
      nodes.forEach(references::checkBranch);
      references.checkCycles();
    }

    /** The keys of the nodes that a node waits for. */
    static List<String> above(FileNode node) {
      List<String> above = new ArrayList<>(node.place().parents());
      above.addAll(node.place().after());
      return above;
    }

    private void checkNames(FileNode node) {
      Set<String> known = new HashSet<>();
      for (String name : above(node)) {
        if (!nodes.containsKey(name)) {
          mistakes.add(
              node.line(),
              "the node '%s' names '%s', which is not in this file%s"
                  .formatted(node.key(), name, suggestion(name, nodes.keySet(), "'")));
        } else if (!known.add(name)) {
          mistakes.add(node.line(), "the node '" + node.key() + "' names '" + name + "' twice");
        }
      }
    }

    private void checkBranch(FileNode node) {
      boolean condition = false;
      for (String name : node.place().parents()) {
        FileNode parent = nodes.get(name);
        // A parent of an unknown type may be a condition; a missing one is reported elsewhere.
        condition |=
            parent == null
                || parent.type().equals(TypeKeys.CONDITION)
                || TypeKeys.inputs(parent.type()).isEmpty();
      }
      if (!node.place().branch().isEmpty() && !condition) {
        mistakes.add(
            node.line(),
            "the node '" + node.key() + "' is on a branch, and none of its parents is a condition");
      }
    }

    /** A depth-first search without recursion, since chains may be long. */
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
      path.add(
          new Step(name, node == null ? List.<String>of().iterator() : above(node).iterator()));
    }

    private void tell(List<String> path, String again) {
      List<String> circle = new ArrayList<>(path.subList(path.indexOf(again), path.size()));
      circle.add(again);
      FileNode node = nodes.get(again);
      mistakes.add(
          node == null ? 1 : node.line(),
          "these nodes wait for each other: " + String.join(" for ", circle));
    }
  }

  /** The keys of one mapping of a file; each must be known and unique. */
  static final class Keys {
    private final Map<String, Yaml.Field> fields = new LinkedHashMap<>();

    /**
     * Checks the keys.
     *
     * @param of the name of the mapping in messages
     * @param known the allowed keys
     * @param mistakes receives the mistakes
     */
    Keys(Yaml.Fields given, String of, Collection<String> known, Mistakes mistakes) {
      for (Yaml.Field field : given.fields()) {
        if (!known.contains(field.key())) {
          mistakes.add(field.line(), unknown(field.key(), of, known));
        } else {
          Yaml.Field before = fields.putIfAbsent(field.key(), field);
          if (before != null) {
            mistakes.add(field.line(), field.key() + " is already given on line " + before.line());
          }
        }
      }
    }

    private static String unknown(String key, String of, Collection<String> known) {
      return of + " has no " + key + suggestion(key, known, "");
    }

    /** The value of a key; null if it is absent or null. */
    @Nullable Yaml find(String key) {
      Yaml.Field field = fields.get(key);
      return field == null || field.value().isNull() ? null : field.value();
    }
  }
}
