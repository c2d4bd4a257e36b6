package io.millrace.cli.graph.file;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Writes graph files, node by node, as {@link GraphFile} reads them. */
public final class GraphFileWriter implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final PrintStream out;
  private final boolean yaml;
  private final Dump dump =
      new Dump(DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).setWidth(100).build());
  private boolean begun;

  /**
   * Nothing written yet.
   *
   * @param yaml whether to write YAML, otherwise JSON
   */
  public GraphFileWriter(PrintStream out, boolean yaml) {
    this.out = out;
    this.yaml = yaml;
  }

  /** Writes a node. */
  public void write(FileNode node) {
    ObjectNode json = json(node);
    if (yaml) {
      out.print(begun ? "" : "nodes:\n");
      Map<?, ?> entry = Map.of(node.key(), JSON.treeToValue(json, Object.class));
      dump.dumpToString(entry)
          .lines()
          .forEach(line -> out.println(line.isEmpty() ? "" : "  " + line));
    } else {
      out.print(begun ? ",\n  " : "{\"nodes\": {\n  ");
      out.print(JsonNodeFactory.instance.stringNode(node.key()) + ": " + json);
    }
    begun = true;
  }

  private static ObjectNode json(FileNode node) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("type", node.type());
    if (!node.name().equals(node.key())) {
      json.put("name", node.name());
    }
    addNames(json, "parents", node.place().parents());
    addNames(json, "after", node.place().after());
    if (!node.place().branch().isEmpty()) {
      json.put("branch", node.place().branch());
    }
    if (node.place().always()) {
      json.put("always", true);
    }
    Set<String> inputs = TypeKeys.inputs(node.type()).orElse(Set.of());
    Map<Boolean, List<Map.Entry<String, JsonNode>>> data =
        node.data().entrySet().stream()
            .collect(Collectors.partitioningBy(entry -> inputs.contains(entry.getKey())));
    data.getOrDefault(true, List.of()).forEach(entry -> json.set(entry.getKey(), entry.getValue()));
    List<Map.Entry<String, JsonNode>> more = data.getOrDefault(false, List.of());
    if (!more.isEmpty()) {
      ObjectNode rest = json.putObject("data");
      more.forEach(entry -> rest.set(entry.getKey(), entry.getValue()));
    }
    return json;
  }

  private static void addNames(ObjectNode json, String key, List<String> names) {
    if (!names.isEmpty()) {
      ArrayNode list = json.putArray(key);
      names.forEach(list::add);
    }
  }

  /** Writes the end; does not close the stream. */
  @Override
  public void close() {
    if (!begun) {
      out.print(yaml ? "nodes: {}" : "{\"nodes\": {");
    }
    out.print(yaml ? begun ? "" : "\n" : "\n}}\n");
    out.flush();
  }
}
