package io.millrace.cli.graph;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.NodeLine.Colours;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.TreeLines;
import io.millrace.cli.remote.AttemptLines;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.StaleOption;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Shows the graph, or one node. */
@Command(
    name = "show",
    description = {
      "Shows the graph as a tree, each node once, below the first of its parents; or one node with"
          + " its data."
    })
final class ShowCommand extends GraphServer implements Callable<Integer> {
  private static final Set<String> TIMES = Set.of("created", "started", "ended", "notBefore");
  private static final String ATTEMPTS = "endedAttempts";
  private static final int SHOWN = 10_000;

  @Parameters(arity = "0..1", paramLabel = "ID", description = "The id of a node.")
  private @Nullable String id;

  @Mixin private GraphServer.FilterOptions filter = new GraphServer.FilterOptions();

  @Option(
      names = "--text",
      paramLabel = "TEXT",
      description =
          "Only nodes with this text in their name, or in a value that they were given, for example"
              + " a command.")
  private @Nullable String part;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "1000",
      description = "The most lines of the tree; 0 for all. Default: ${DEFAULT-VALUE}")
  private int limit;

  @Mixin private StaleOption stale = new StaleOption();

  @Override
  protected ClientOptions client(ServerAddress address) {
    return stale.of(super.client(address));
  }

  @Override
  public Integer call() {
    return perform(calls -> {
      if (limit < 0) {
        throw new UsageException("--limit is a number from 0, not " + limit);
      }
      GraphCalls graph = new GraphCalls(calls);
      if (id == null) {
        showAll(graph);
      } else if (filter.isGiven() || part != null) {
        throw new UsageException("filters cannot be combined with the id of a node");
      } else {
        showOne(graph, GraphServer.checked(id));
      }
    });
  }

  private String query() {
    String filters = filter.query();
    return part == null
        ? filters
        : (filters.isEmpty() ? "" : filters + "&") + "text=" + JsonCalls.part(part);
  }

  private void showAll(GraphCalls graph) {
    if (json()) {
      // Text takes a tenth of the memory of JSON trees.
      List<String> nodes = graph.nodes(query(), JsonNode::toString);
      String separator = "";
      out().print('[');
      for (String node : nodes) {
        out().print(separator + node);
        separator = ",\n";
      }
      out().println(']');
      return;
    }
    List<NodeView> nodes = graph.nodes(query(), NodeView::of);
    if (nodes.isEmpty()) {
      terminal().err().println("no nodes");
    }
    int most = limit == 0 ? Integer.MAX_VALUE : limit;
    TreeLines.of(nodes, most, Colours.on(terminal().screen()), System.currentTimeMillis())
        .forEach(out()::println);
  }

  private void showOne(GraphCalls graph, String node) {
    ObjectNode found = (ObjectNode) graph.find(node);
    List<String> keys = graph.keys(node);
    if (json()) {
      ObjectNode data = found.putObject("data");
      keys.forEach(key -> data.set(key, graph.value(node, key)));
      out().println(found);
      return;
    }
    Table table = new Table("FIELD", "VALUE");
    JsonNode attempts = found.path(ATTEMPTS);
    for (Map.Entry<String, JsonNode> field : found.properties()) {
      if (!field.getKey().equals(ATTEMPTS)) {
        table.row(field.getKey(), text(field.getKey(), field.getValue()));
      }
    }
    table.print(out());
    AttemptLines.print(out(), attempts, ended -> text("ended", ended));
    keys.forEach(key -> print(key, graph.value(node, key)));
  }

  private static String text(String field, JsonNode value) {
    return TIMES.contains(field) && value.isNumber()
        ? Instant.ofEpochMilli(value.asLong()).toString()
        : Fields.text(value);
  }

  /** Prints text line by line, without characters that could control a terminal. */
  private void print(String key, JsonNode value) {
    if (value.isNull() || value.isMissingNode()) {
      return;
    }
    String text = value.isString() ? value.asString() : value.toString();
    if (text.isEmpty()) {
      return;
    }
    String shown = text.length() > SHOWN ? text.substring(0, SHOWN) : text;
    if (shown.indexOf('\n') < 0) {
      out().println(Table.printable(key) + ": " + Table.printable(shown));
    } else {
      out().println(Table.printable(key) + ":");
      shown.lines().forEach(line -> out().println("  " + Table.printable(line)));
    }
    if (shown.length() < text.length()) {
      out().printf("  … and %,d more characters%n", text.length() - shown.length());
    }
  }
}
