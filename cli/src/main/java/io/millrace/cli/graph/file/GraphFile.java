package io.millrace.cli.graph.file;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The graph of a file, which makes sense in itself: keys are known, names stand once, and nothing
 * waits for itself.
 *
 * @param nodes in the order of the file
 */
public record GraphFile(List<FileNode> nodes) {
  private static final List<String> KEYS = List.of("nodes", "defaults");

  /** Copies the nodes. */
  public GraphFile {
    nodes = List.copyOf(nodes);
  }

  /**
   * Reads one.
   *
   * @param text YAML or JSON
   * @param folder that relative paths in it count from
   * @throws GraphFileException with all that is wrong
   */
  public static GraphFile read(String text, Path folder) {
    Yaml root = YamlReader.read(text);
    if (!(root instanceof Yaml.Fields top)) {
      int line = root == null ? 1 : root.line();
      throw new GraphFileException(
          new Mistake(line, "a graph file begins with 'nodes:' and has a node on each key below"));
    }
    List<Mistake> mistakes = new ArrayList<>();
    Keys keys = new Keys(top, "a graph file", KEYS, mistakes);
    NodeReader reader = new NodeReader(folder, keys.find("defaults"), mistakes);
    List<FileNode> nodes = nodes(keys.find("nodes"), top.line(), reader, mistakes);
    References.check(nodes, mistakes);
    if (!mistakes.isEmpty()) {
      throw new GraphFileException(mistakes);
    }
    return new GraphFile(nodes);
  }

  /** The keys of what a node waits for. */
  public static List<String> above(FileNode node) {
    return References.above(node);
  }

  private static List<FileNode> nodes(
      @Nullable Yaml given, int line, NodeReader reader, List<Mistake> mistakes) {
    if (!(given instanceof Yaml.Fields named) || named.fields().isEmpty()) {
      int where = given == null ? line : given.line();
      mistakes.add(new Mistake(where, "there are no nodes; write them as keys below 'nodes:'"));
      return List.of();
    }
    Map<String, Integer> lines = new LinkedHashMap<>();
    List<FileNode> nodes = new ArrayList<>();
    for (Yaml.Field field : named.fields()) {
      Integer before = lines.putIfAbsent(field.key(), field.line());
      if (before != null) {
        mistakes.add(
            new Mistake(
                field.line(),
                "the node '" + field.key() + "' is there already, on line " + before));
      } else {
        nodes.add(reader.read(field));
      }
    }
    return nodes;
  }
}
