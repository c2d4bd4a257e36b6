package io.millrace.cli.graph;

import io.millrace.cli.graph.file.FileNode;
import io.millrace.cli.graph.file.GraphFile;
import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.graph.view.GraphFeed.Message;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.RejectedException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Adds the nodes of a file to the graph of a server, parents before children. */
public final class GraphUpload {
  private static final int MAX_CHARS = 1 << 20;

  /** The form of a refusal: the server gives the number of the node in the request. */
  private static final Pattern NUMBERED =
      Pattern.compile("(?:new )?node (?:number )?([0-9]{1,9}): (.*)", Pattern.DOTALL);

  private final GraphCalls graph;
  private final String file;
  private final SequencedMap<String, String> ids = new LinkedHashMap<>();
  private final NodeForms forms;
  private final List<NodeView> nodes = new ArrayList<>();
  private final List<FileNode> sending = new ArrayList<>();
  private long version;
  private boolean duplicate;

  /**
   * Nothing added yet.
   *
   * @param file the name of the file in messages
   * @param under the ids of the parents of nodes that have no parent in the file; empty for root
   */
  GraphUpload(GraphCalls graph, String file, List<String> under) {
    this.graph = graph;
    this.file = file;
    this.forms = new NodeForms(ids, under, new HashMap<>());
  }

  /**
   * All nodes of a file as one request adds them, below root.
   *
   * @param file its name; - is standard input
   * @throws CommandException if it cannot be read, or is not a valid graph file
   */
  public static ArrayNode request(String file, Terminal terminal) {
    NodeForms forms = new NodeForms(Map.of(), List.of(), new HashMap<>());
    ArrayNode request = JsonNodeFactory.instance.arrayNode();
    for (FileNode node : ordered(ImportCommand.FileArgument.read(file, terminal).nodes())) {
      request.add(forms.named(node));
    }
    return request;
  }

  /**
   * The ids of the nodes that have been added, by their keys in the file. Nodes that were there
   * already with the unique key and are not those of the file have their ids as keys.
   */
  SequencedMap<String, String> ids() {
    return ids;
  }

  /** Prints each key of the file with its id; nothing if nothing was added. */
  void printIds(PrintStream out, boolean json) {
    if (json && !ids.isEmpty()) {
      ObjectNode object = ServerCommand.object();
      ids.forEach(object::put);
      out.println(object);
    } else {
      ids.forEach((key, id) -> out.println(Table.printable(key) + "  " + id));
    }
  }

  /** Whether nothing was added because nodes that were there already hold the unique key. */
  boolean isDuplicate() {
    return duplicate;
  }

  /** How many of the nodes that hold the unique key have left the graph. */
  int gone() {
    return ids.size() - nodes.size();
  }

  /** Says how many nodes were there already, if nothing was added. */
  void reportDuplicate(Terminal terminal) {
    if (duplicate) {
      String gone = gone() == 0 ? "" : ", of which " + gone() + " have left the graph since";
      String held = ids.size() == 1 ? " node" : " nodes";
      terminal.say("the unique key is held by " + ids.size() + held + gone + "; nothing was added");
    }
  }

  /** The added nodes as a message, with the version after which to follow the graph. */
  Message message() {
    return new Message(version, false, nodes, List.of());
  }

  /**
   * Adds the nodes. Each request adds all of its nodes or none.
   *
   * @param maxNodes the maximum number of nodes in a request
   * @param unique the parameters for a unique key, which one request can hold; may be empty
   */
  void add(GraphFile file, int maxNodes, String unique) {
    ArrayNode request = JsonNodeFactory.instance.arrayNode();
    int chars = 0;
    for (FileNode node : ordered(file.nodes())) {
      ObjectNode form = forms.form(node);
      int more = maxNodes == Integer.MAX_VALUE ? 0 : form.toString().length();
      if (!request.isEmpty() && (request.size() == maxNodes || chars + more > MAX_CHARS)) {
        send(request, unique);
        request = JsonNodeFactory.instance.arrayNode();
        chars = 0;
      }
      request.add(forms.named(node));
      sending.add(node);
      chars += more;
    }
    if (!request.isEmpty()) {
      send(request, unique);
    }
  }

  private void send(ArrayNode request, String query) {
    JsonNode added = added(request, query);
    duplicate = added.path(0).path("duplicate").asBoolean(false);
    boolean asInFile = !duplicate || areThoseOfFile(added);
    for (int i = 0; i < added.size(); i++) {
      JsonNode node = added.path(i);
      String id = node.path("id").asString();
      ids.put(asInFile ? sending.get(i).key() : id, id);
      if (!hasLeft(node)) {
        nodes.add(NodeView.of(node));
        version = Math.max(version, node.path("version").asLong(0));
      }
    }
    sending.clear();
  }

  /** Of a duplicate that has left the graph, the server knows the id only. */
  private static boolean hasLeft(JsonNode node) {
    return !node.has("type");
  }

  /** Whether nodes that were there already look like those of the file, in the same order. */
  private boolean areThoseOfFile(JsonNode present) {
    return present.size() == sending.size()
        && IntStream.range(0, sending.size())
            .allMatch(i ->
                hasLeft(present.path(i))
                    || looksLike(sending.get(i), NodeView.of(present.path(i))));
  }

  private static boolean looksLike(FileNode node, NodeView present) {
    return node.type().equals(present.type()) && node.name().equals(present.name());
  }

  private JsonNode added(ArrayNode request, String query) {
    try {
      return graph.add(request, query);
    } catch (RejectedException e) {
      Matcher about = NUMBERED.matcher(String.valueOf(e.getMessage()));
      if (about.matches()) {
        int number = Integer.parseInt(about.group(1));
        if (number >= 1 && number <= sending.size()) {
          throw new CommandException(
              ExitCode.REFUSED, where(sending.get(number - 1)) + about.group(2), e);
        }
      }
      throw e;
    }
  }

  /** The prefix of messages: users know nodes by their lines, not by numbers in a request. */
  private String where(FileNode node) {
    return file + " line " + node.line() + ": node '" + Table.printable(node.key()) + "': ";
  }

  /**
   * The forms of nodes in a request.
   *
   * @param ids the ids of nodes that were added before, by their keys in the file
   * @param under the ids of the parents of nodes that have no parent in the file; empty for root
   * @param locals the names of nodes in this request and earlier ones, by their keys
   */
  private record NodeForms(
      Map<String, String> ids, List<String> under, Map<String, String> locals) {
    /** A node with a name of its own. */
    ObjectNode named(FileNode node) {
      ObjectNode form = form(node);
      locals.put(node.key(), "n" + locals.size());
      ((ObjectNode) form.path("metadata")).put("local", locals.get(node.key()));
      return form;
    }

    ObjectNode form(FileNode node) {
      ObjectNode form = ServerCommand.object();
      ObjectNode metadata = form.putObject("metadata");
      metadata.put("type", node.type());
      if (!node.name().isEmpty()) {
        metadata.put("name", node.name());
      }
      ArrayNode parents = metadata.putArray("parents");
      node.place().parents().forEach(key -> parents.add(reference(key)));
      if (parents.isEmpty()) {
        under.forEach(parents::add);
      }
      if (parents.isEmpty()) {
        parents.add("root");
      }
      if (!node.place().after().isEmpty()) {
        ArrayNode after = metadata.putArray("after");
        node.place().after().forEach(key -> after.add(reference(key)));
      }
      if (!node.place().branch().isEmpty()) {
        metadata.put("branch", node.place().branch());
      }
      if (node.place().always()) {
        metadata.put("always", true);
      }
      ObjectNode data = form.putObject("data");
      node.data().forEach(data::set);
      return form;
    }

    /** The id of a node that was added before, otherwise its name in this request. */
    private String reference(String key) {
      String id = ids.get(key);
      return id != null ? id : "local:" + locals.get(key);
    }
  }

  /** The nodes in the order of the file, except that each follows the nodes that it refers to. */
  private static List<FileNode> ordered(List<FileNode> nodes) {
    Map<String, Integer> places = new HashMap<>();
    nodes.forEach(node -> places.put(node.key(), places.size()));
    int[] left = new int[nodes.size()];
    List<List<Integer>> below = new ArrayList<>();
    nodes.forEach(_ -> below.add(new ArrayList<>()));
    PriorityQueue<Integer> free = new PriorityQueue<>();
    for (int i = 0; i < nodes.size(); i++) {
      for (String above : GraphFile.above(nodes.get(i))) {
        below.get(places.getOrDefault(above, i)).add(i);
        left[i]++;
      }
      if (left[i] == 0) {
        free.add(i);
      }
    }
    List<FileNode> ordered = new ArrayList<>(nodes.size());
    while (!free.isEmpty()) {
      int next = free.remove();
      ordered.add(nodes.get(next));
      for (int waiting : below.get(next)) {
        if (--left[waiting] == 0) {
          free.add(waiting);
        }
      }
    }
    return ordered;
  }
}
