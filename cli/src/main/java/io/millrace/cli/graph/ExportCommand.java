package io.millrace.cli.graph;

import io.millrace.cli.graph.file.FileNode;
import io.millrace.cli.graph.file.GraphFileWriter;
import io.millrace.cli.graph.file.TypeKeys;
import io.millrace.cli.graph.view.Diagram;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.terminal.NewFile;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.UsageException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Gatherers;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** Exports the graph to a file. */
@Command(
    name = "export",
    description = {
      "Writes the graph as a graph file (yaml or json) that 'import' and 'run' can read, without"
          + " states and output, or as text for a program that draws it (dot for Graphviz, or"
          + " mermaid), with the states as colours."
    })
final class ExportCommand extends GraphServer implements Callable<Integer> {
  /** The formats. */
  private enum Format {
    YAML,
    JSON,
    DOT,
    MERMAID,
    /** No longer written; kept to say what to use instead. */
    SVG
  }

  private static final int AT_A_TIME = 16;

  @Mixin private GraphServer.FilterOptions filter = new GraphServer.FilterOptions();

  @Option(
      names = {"-f", "--format"},
      paramLabel = "FORMAT",
      description =
          "yaml, json, dot or mermaid. Default: by the file name's ending (mmd is mermaid), or"
              + " yaml")
  private @Nullable Format format;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "The file to write; it is replaced when all is written. Default: standard output")
  private @Nullable String output;

  @Override
  public Integer call() {
    return perform(calls -> {
      Format chosen = chosen();
      if (chosen == Format.SVG) {
        throw new UsageException(
            "svg is no longer written; use --format dot and Graphviz (dot -Tsvg), or --format"
                + " mermaid");
      }
      GraphCalls graph = new GraphCalls(calls);
      List<NodeView> nodes = graph.nodes(filter.query(), NodeView::of);
      if (output == null || output.equals("-")) {
        write(graph, chosen, nodes, out());
        return;
      }
      NewFile.named(output)
          .write(out -> {
            PrintStream to =
                new PrintStream(new BufferedOutputStream(out), false, StandardCharsets.UTF_8);
            write(graph, chosen, nodes, to);
            if (to.checkError()) {
              throw new IOException("cannot write " + output);
            }
          });
    });
  }

  private Format chosen() {
    if (format != null) {
      return format;
    }
    if (json()) {
      return Format.JSON;
    }
    String name = output == null ? "" : output.toLowerCase(Locale.ROOT);
    for (Format one : Format.values()) {
      if (name.endsWith("." + one.name().toLowerCase(Locale.ROOT))) {
        return one;
      }
    }
    return name.endsWith(".mmd") ? Format.MERMAID : Format.YAML;
  }

  private void write(GraphCalls graph, Format chosen, List<NodeView> nodes, PrintStream to) {
    switch (chosen) {
      case DOT -> Diagram.writeDot(nodes, to);
      case MERMAID -> Diagram.writeMermaid(nodes, to);
      case YAML, JSON, SVG -> writeFile(graph, nodes, to, chosen == Format.YAML);
    }
    to.flush();
  }

  /** Requests the data of each node, so this takes a while. */
  private void writeFile(GraphCalls graph, List<NodeView> nodes, PrintStream to, boolean yaml) {
    Set<Long> there = nodes.stream().map(NodeView::id).collect(Collectors.toSet());
    try (ProgressBar bar = new ProgressBar(terminal(), "exported");
        GraphFileWriter writer = new GraphFileWriter(to, yaml)) {
      AtomicInteger done = new AtomicInteger();
      nodes.stream()
          .gather(
              Gatherers.mapConcurrent(AT_A_TIME, node -> fileNode(node, there, data(graph, node))))
          .forEachOrdered(node -> {
            writer.write(node);
            bar.show(done.incrementAndGet(), nodes.size());
          });
    }
  }

  private static Map<String, JsonNode> data(GraphCalls graph, NodeView node) {
    String id = String.valueOf(node.id());
    Map<String, JsonNode> data = new LinkedHashMap<>();
    for (String key : graph.keys(id)) {
      JsonNode value =
          TypeKeys.isOutput(node.type(), key) ? NullNode.getInstance() : graph.value(id, key);
      if (!value.isNull()) {
        data.put(key, value);
      }
    }
    return data;
  }

  /** Leaves out references to nodes that are not exported. */
  private static FileNode fileNode(NodeView node, Set<Long> there, Map<String, JsonNode> data) {
    List<String> parents = names(node.place().parents(), there);
    return new FileNode(
        String.valueOf(node.id()),
        0,
        node.name(),
        node.type(),
        new FileNode.Place(
            parents,
            names(node.place().after(), there),
            parents.isEmpty() ? "" : node.place().branch(),
            node.place().always()),
        data);
  }

  private static List<String> names(List<Long> ids, Set<Long> there) {
    return ids.stream().filter(there::contains).map(String::valueOf).toList();
  }
}
