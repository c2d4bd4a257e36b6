package io.millrace.graph;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.NewNode.NodeRef;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Nodes to add. */
public final class GraphForms {
  private GraphForms() {}

  /** Names nodes that are there. */
  public static List<NodeRef> refs(NodeId... ids) {
    return Arrays.stream(ids).<NodeRef>map(NodeRef.Existing::new).toList();
  }

  public static NewNode form(String type, NodeId... parents) {
    return form(null, type, new NewNode.Place(refs(parents), List.of(), null));
  }

  public static NewNode form(@Nullable String local, String type, NewNode.Place place) {
    return new NewNode(local, null, type, place, false, Map.of());
  }

  public static NewNode with(NewNode form, Map<String, JsonNode> data) {
    return new NewNode(form.local(), form.name(), form.type(), form.place(), form.always(), data);
  }

  public static NewNode named(String name, NewNode form) {
    return new NewNode(form.local(), name, form.type(), form.place(), form.always(), form.data());
  }

  public static NewNode.Place below(NodeId... parents) {
    return new NewNode.Place(refs(parents), List.of(), null);
  }

  public static NewNode.Place after(NodeId... nodes) {
    return new NewNode.Place(List.of(), refs(nodes), null);
  }

  public static NewNode.Place below(String... locals) {
    List<NodeRef> refs = Arrays.stream(locals).<NodeRef>map(NodeRef.Local::new).toList();
    return new NewNode.Place(refs, List.of(), null);
  }

  public static NewNode.Place on(Branch branch, NodeId condition) {
    return new NewNode.Place(refs(condition), List.of(), branch);
  }
}
