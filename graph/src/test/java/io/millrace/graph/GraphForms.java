package io.millrace.graph;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Nodes to add. */
final class GraphForms {
  private GraphForms() {}

  static NodeForm form(String type, NodeId... parents) {
    return form(null, type, new NewNode.Place(Drive.refs(parents), List.of(), null));
  }

  static NodeForm form(@Nullable String local, String type, NewNode.Place place) {
    return new NodeForm(local, null, type, place, false, Map.of());
  }

  static NodeForm with(NodeForm form, Map<String, JsonNode> data) {
    return new NodeForm(form.local(), form.name(), form.type(), form.place(), form.always(), data);
  }

  static NodeForm named(String name, NodeForm form) {
    return new NodeForm(form.local(), name, form.type(), form.place(), form.always(), form.data());
  }

  static NewNode.Place below(NodeId... parents) {
    return new NewNode.Place(Drive.refs(parents), List.of(), null);
  }

  static NewNode.Place after(NodeId... nodes) {
    return new NewNode.Place(List.of(), Drive.refs(nodes), null);
  }

  static NewNode.Place below(String... locals) {
    List<NodeRef> refs = Arrays.stream(locals).<NodeRef>map(NodeRef.Local::new).toList();
    return new NewNode.Place(refs, List.of(), null);
  }

  static NewNode.Place on(Branch branch, NodeId condition) {
    return new NewNode.Place(Drive.refs(condition), List.of(), branch);
  }
}
