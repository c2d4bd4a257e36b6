package io.millrace.client.graphs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Nodes to add together. For one thread. */
public final class NewGraph {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final List<NewNode> nodes = new ArrayList<>();

  /**
   * Adds a node of any type.
   *
   * @param data its data by key, as docs/graph.md has them; values become JSON
   */
  public NewNode node(String type, Map<String, ?> data) {
    NewNode node = new NewNode(this, "n" + nodes.size(), type, data);
    nodes.add(node);
    return node;
  }

  /** Adds a program with arguments. */
  public NewNode command(String program, String... arguments) {
    return node("command", Map.of("command", program, "args", List.of(arguments)));
  }

  /** Adds a script for bash. */
  public NewNode shell(String script) {
    return node("shell command", Map.of("command", script));
  }

  /** The nodes as the body of {@code POST /v1/nodes}. */
  public JsonNode json() {
    ArrayNode array = JSON.createArrayNode();
    nodes.forEach(node -> array.add(node.json()));
    return array;
  }

  /** A node to add, below the root unless something else is said. For one thread. */
  public static final class NewNode {
    private final NewGraph graph;
    private final String local;
    private final ObjectNode metadata = JSON.createObjectNode();
    private final Map<String, @Nullable Object> data;

    private NewNode(NewGraph graph, String local, String type, Map<String, ?> data) {
      this.graph = graph;
      this.local = local;
      this.data = new LinkedHashMap<>(data);
      metadata.put("type", type).put("local", local);
    }

    /** Gives it a name for people. */
    public NewNode named(String name) {
      metadata.put("name", name);
      return this;
    }

    /** Puts it below these nodes of the same graph: it runs when they have finished. */
    public NewNode below(NewNode... parents) {
      Arrays.stream(parents)
          .map(this::reference)
          .forEach(metadata.withArrayProperty("parents")::add);
      return this;
    }

    /** Puts it below a node of the server. */
    public NewNode below(String id) {
      metadata.withArrayProperty("parents").add(id);
      return this;
    }

    /** Has it wait for these nodes or groups of the same graph, without being below them. */
    public NewNode after(NewNode... before) {
      Arrays.stream(before).map(this::reference).forEach(metadata.withArrayProperty("after")::add);
      return this;
    }

    /** Puts it on a branch of the condition above. */
    public NewNode onBranch(boolean taken) {
      metadata.put("branch", taken ? "then" : "else");
      return this;
    }

    /** Has it run however the nodes above it end. */
    public NewNode always() {
      metadata.put("always", true);
      return this;
    }

    /** Sets a key of its data, for example {@code attempts}, {@code timeout} or {@code env}. */
    public NewNode with(String key, Object value) {
      data.put(key, value);
      return this;
    }

    private String reference(NewNode other) {
      if (other.graph != graph) {
        throw new IllegalArgumentException("a node refers to nodes of its own graph only");
      }
      return "local:" + other.local;
    }

    private ObjectNode json() {
      ObjectNode json = JSON.createObjectNode();
      json.set("metadata", metadata);
      json.set("data", JSON.valueToTree(data));
      return json;
    }
  }
}
