package io.millrace.server.schedules;

import io.millrace.archive.ArchiveTable;
import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NewNode.Place;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.store.GraphRuns;
import io.millrace.graph.store.StoredGraph;
import io.millrace.graph.type.StandardTypes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.schedules.ScheduleState.Ending;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.server.graph.GraphPart;
import io.millrace.server.graph.NodeForms;
import io.millrace.server.graph.type.ScheduledRun;
import io.millrace.store.DocumentKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The target {@code {"graph": {"nodes": […], "parent": ID}}}: a run is a group of nodes in the
 * graph, which is directly below the root or below a node. The nodes are as in {@code POST
 * /v1/nodes}, and refer to each other only.
 */
public final class GraphTarget implements LimitedTarget {
  /** So that all runs of one commit fit into a transaction. */
  private static final int MAX_NODES = 400;

  private static final int MAX_STARTS = 4;
  private static final Set<String> FIELDS = Set.of("nodes", "parent");

  /** The types that run programs, which get the times of the run as variables. */
  private static final Set<String> PROGRAMS =
      Set.of("command", "shell command", "condition", "wait for");

  /** The types that submit work, which belongs to the run then. */
  private static final Set<String> HANDED_ON = Set.of("queue task", "job");

  private final GraphPart part;
  private final StoredGraph graph;
  private final GraphRuns runs;

  /** Runs nodes of the graph of a server. */
  public GraphTarget(GraphPart part) {
    this.part = part;
    this.graph = part.graph();
    this.runs = graph.runs();
  }

  @Override
  public String field() {
    return "graph";
  }

  @Override
  public int maxStarts() {
    return MAX_STARTS;
  }

  /**
   * What a run is made of.
   *
   * @param nodes its nodes
   * @param parent the node below which it is; null for the root
   */
  private record Template(List<NewNode> nodes, @Nullable NodeId parent) {
    static Template read(ObjectNode description) {
      if (description.size() > 1) {
        throw new InvalidScheduleException("target", "a target with a graph has no other field");
      }
      if (!(description.get("graph") instanceof ObjectNode given)) {
        throw invalid("graph is an object with nodes");
      }
      for (String field : given.propertyNames()) {
        if (!FIELDS.contains(field)) {
          throw new InvalidScheduleException(
              "target.graph." + field, "a graph has the fields nodes and parent");
        }
      }
      return new Template(nodes(given.path("nodes")), parent(given.path("parent")));
    }

    private static List<NewNode> nodes(JsonNode given) {
      List<NewNode> nodes;
      try {
        nodes = NodeForms.of(given);
      } catch (HttpProblem e) {
        throw invalid(e.message());
      }
      if (nodes.isEmpty() || nodes.size() > MAX_NODES) {
        throw invalid("a graph has 1 to " + MAX_NODES + " nodes, not " + nodes.size());
      }
      for (int i = 0; i < nodes.size(); i++) {
        Place place = nodes.get(i).place();
        for (List<NodeRef> refs : List.of(place.parents(), place.after())) {
          for (NodeRef ref : refs) {
            if (!(ref instanceof NodeRef.Local)) {
              throw invalid(
                  "new node %d: nodes of a schedule refer to each other as local:NAME, not to node %s"
                      .formatted(i + 1, ref));
            }
          }
        }
      }
      return nodes;
    }

    private static @Nullable NodeId parent(JsonNode given) {
      if (given.isMissingNode() || given.isNull() || given.asString("").equals("root")) {
        return null;
      }
      return NodeId.parse(given.asString(""))
          .orElseThrow(() ->
              new InvalidScheduleException(
                  "target.graph.parent", "parent is the id of a node, not " + given));
    }

    private static InvalidScheduleException invalid(String message) {
      return new InvalidScheduleException("target.graph", message);
    }

    /** A group with these nodes for one run. */
    List<NewNode> of(Request run) {
      Map<String, JsonNode> times =
          new ScheduledRun(run.schedule(), run.nominal(), run.started()).data();
      NodeRef group = new NodeRef.Local(unusedName());
      List<NodeRef> above = parent == null ? List.of() : List.of(new NodeRef.Existing(parent));
      List<NewNode> all = new ArrayList<>(nodes.size() + 1);
      all.add(
          new NewNode(
              ((NodeRef.Local) group).name(),
              run.schedule() + " " + run.nominal(),
              StandardTypes.GROUP,
              new Place(above, List.of(), null),
              false,
              times));
      for (NewNode node : nodes) {
        Place place = node.place();
        List<NodeRef> parents = place.parents().isEmpty() ? List.of(group) : place.parents();
        all.add(
            new NewNode(
                node.local(),
                node.name(),
                node.type(),
                new Place(parents, place.after(), place.branch()),
                node.always(),
                data(node, run, times)));
      }
      return all;
    }

    private static Map<String, JsonNode> data(
        NewNode node, Request run, Map<String, JsonNode> times) {
      if (PROGRAMS.contains(node.type())) {
        return withTimes(node.data(), run);
      }
      if (!HANDED_ON.contains(node.type())) {
        return node.data();
      }
      Map<String, JsonNode> more = new HashMap<>(node.data());
      more.putAll(times);
      return more;
    }

    private String unusedName() {
      String name = "run";
      while (isUsed(name)) {
        name += "_";
      }
      return name;
    }

    private boolean isUsed(String name) {
      return nodes.stream().anyMatch(node -> name.equals(node.local()));
    }

    private static Map<String, JsonNode> withTimes(Map<String, JsonNode> data, Request run) {
      ObjectNode env = data.get("env") instanceof ObjectNode own ? own.deepCopy() : Json.object();
      env.put("MILLRACE_SCHEDULE", run.schedule());
      env.put("MILLRACE_NOMINAL_TIME", run.nominal().toString());
      env.put("MILLRACE_STARTED_AT", run.started().toString());
      Map<String, JsonNode> more = new HashMap<>(data);
      more.put("env", env);
      return more;
    }
  }

  @Override
  public void check(ObjectNode description) {
    Template template = Template.read(description);
    try {
      runs.check(template.nodes());
    } catch (InvalidGraphException e) {
      throw Template.invalid(String.valueOf(e.getMessage()));
    }
    NodeId parent = template.parent();
    if (parent != null && graph.registry().node(parent).isEmpty()) {
      throw new InvalidScheduleException("target.graph.parent", "there is no node " + parent);
    }
  }

  @Override
  public Scope scope(ObjectNode description) {
    String parent = description.path("graph").path("parent").asString("");
    return new Scope(Area.GRAPH, parent.equals("root") ? "" : parent);
  }

  @Override
  public boolean isInReach(io.millrace.http.Request request, ObjectNode description) {
    Template template = Template.read(description);
    return part.mayAdd(request, template.parent(), template.nodes());
  }

  @Override
  public boolean start(List<Request> requests, ObjectNode description, JointCommit commit) {
    Template template = Template.read(description);
    try {
      return runs.add(
          requests.stream().map(template::of).toList(),
          (transaction, groups) ->
              commit.commit(transaction, groups.stream().map(NodeId::toString).toList()));
    } catch (InvalidGraphException | NodeStateException | UnknownNodeException e) {
      throw Template.invalid(String.valueOf(e.getMessage()));
    }
  }

  private static NodeId id(String run) {
    return NodeId.parse(run)
        .orElseThrow(() -> new IllegalArgumentException(run + " is no id of a node"));
  }

  @Override
  public Optional<End> end(String run) {
    Phase phase = runs.phase(id(run)).orElse(null);
    return switch (phase) {
      case null -> Optional.of(gone(run));
      case Phase.Waiting _, Phase.Running _ -> Optional.empty();
      case Phase.Ended ended -> {
        String reason = ended.reason().isEmpty() ? null : ended.reason();
        yield Optional.of(new End(ending(ended.state()), reason));
      }
    };
  }

  /** The end of a run that has left the store. */
  private End gone(String run) {
    return part.archive()
        .find(ArchiveTable.GRAPHS, run)
        .map(row ->
            new End(
                NodeState.of(String.valueOf(row.text("state")))
                    .map(GraphTarget::ending)
                    .orElse(Ending.UNKNOWN),
                row.text("reason")))
        .orElseGet(() -> new End(Ending.UNKNOWN, "node " + run + " was removed"));
  }

  private static Ending ending(NodeState state) {
    return switch (state) {
      case FINISHED -> Ending.SUCCEEDED;
      case KILLED -> Ending.CANCELLED;
      default -> Ending.FAILED;
    };
  }

  /** The node below which a schedule adds its runs; empty for the root, and for other targets. */
  static Optional<NodeId> parent(ObjectNode description) {
    return NodeId.parse(description.path("graph").path("parent").asString(""));
  }

  @Override
  public void cancel(String run) {
    try {
      graph.registry().kill(Caller.ANYONE, List.of(id(run)), Kill.DEFAULT);
    } catch (UnknownNodeException _) {
      // It was removed.
    }
  }

  @Override
  public String collection() {
    return GraphRuns.collection();
  }

  @Override
  public String runOf(DocumentKey key) {
    return GraphRuns.node(key).toString();
  }
}
