package io.millrace.graph.store;

import io.millrace.blobs.Value;
import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.store.NodeData.StoredValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Changes the data of nodes. */
final class DataWriter {
  private final GraphCommits commits;
  private final ValueStore values;
  private final DataRules rules;

  DataWriter(GraphCommits commits, ValueStore values, DataRules rules) {
    this.commits = commits;
    this.values = values;
    this.rules = rules;
  }

  /** A value as it will be stored, with the page that was asked for. */
  private record Next(StoredValue value, boolean grows, int slot, @Nullable Integer next) {}

  DataPage put(Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    DataRules.checkKey(key);
    try (ValueStore.Upload upload = values.upload()) {
      Done<DataPage> done =
          switch (write) {
            case DataWrite.Whole(JsonNode value) -> {
              StoredValue stored = upload.value(value);
              JsonNode shown = values.page(stored, 0).data();
              yield commits.run(model ->
                  put(open(model, caller, id, key, expected), whole(stored, pages(stored)), shown));
            }
            case DataWrite.IfUnset(JsonNode value) -> {
              StoredValue stored = upload.value(value);
              JsonNode shown = values.page(stored, 0).data();
              yield commits.run(model -> {
                Place place = open(model, caller, id, key, expected);
                if (isSet(place.old())) {
                  throw new NodeStateException("\"" + key + "\" of node " + id + " is set already");
                }
                return put(place, whole(stored, 0), shown);
              });
            }
            case DataWrite.Slot slot -> {
              Value page = upload.page(slot.value(), slot.slot());
              yield commits.run(model -> {
                Place place = open(model, caller, id, key, expected);
                return put(place, page(place, slot, page), slot.value());
              });
            }
          };
      return done.value();
    }
  }

  /** Where something is to be written, which is allowed. */
  private record Place(
      WriteModel model, GraphNode node, String key, NodeData data, @Nullable StoredValue old) {}

  private Place open(
      WriteModel model, Caller caller, NodeId id, String key, @Nullable Long expected) {
    GraphNode node = model.node(id);
    Permissions.of(caller, model).checkData(id);
    StoreGraphRegistry.checkVersion(node, expected);
    if (rules.written(node.definition()).contains(key)) {
      throw new NodeStateException(
          "\"" + key + "\" of node " + id + " is written by the node itself");
    }
    boolean waits = node.phase() instanceof Phase.Waiting;
    if (!waits && rules.read(node.definition()).contains(key)) {
      throw new NodeStateException(
          "\""
              + key
              + "\" of node "
              + id
              + " changes only while the node waits; it is "
              + node.state().word());
    }
    NodeData data = model.data(id);
    return new Place(model, node, key, data, data.values().get(key));
  }

  /** A JSON null counts as unset, as it does for types. */
  private static boolean isSet(@Nullable StoredValue value) {
    return value != null
        && !(value instanceof StoredValue.Inline(JsonNode inline, String _) && inline.isNull());
  }

  private static @Nullable Integer pages(StoredValue value) {
    return switch (value) {
      case StoredValue.Pages texts -> texts.pages().size();
      case StoredValue.Inline inline when inline.value().isString() -> 1;
      default -> null;
    };
  }

  /** With the page to write next, if it is a text. */
  private static Next whole(StoredValue value, @Nullable Integer next) {
    return new Next(value, false, 0, pages(value) == null ? null : next);
  }

  private static Next page(Place place, DataWrite.Slot write, Value page) {
    StoredValue old = place.old();
    if (old == null) {
      throw new UnknownKeyException(place.node().id(), place.key());
    }
    if (!old.view().equals(write.view())) {
      throw new StaleViewException("\"" + place.key() + "\" was changed since; read it again");
    }
    List<Value> pages = new ArrayList<>();
    switch (old) {
      case StoredValue.Pages texts -> pages.addAll(texts.pages());
      case StoredValue.Inline(JsonNode value, String _) when value.isString() ->
          pages.add(new Value.Inline(TextPages.bytes(value.asString())));
      default ->
          throw new InvalidGraphException("\"" + place.key() + "\" is no text and has no pages");
    }
    int slot = write.slot();
    int most = Math.min(pages.size(), ValueStore.Upload.MOST_PAGES - 1);
    if (slot < 0 || slot > most) {
      throw new InvalidGraphException(
          "\"" + place.key() + "\" has no page " + slot + "; write 0 to " + most);
    }
    boolean grows = slot == pages.size();
    if (grows) {
      pages.add(page);
    } else {
      pages.set(slot, page);
    }
    return new Next(new StoredValue.Pages(pages, old.view()), grows, slot, slot + 1);
  }

  private DataPage put(Place place, Next next, JsonNode shown) {
    WriteModel model = place.model();
    NodeId id = place.node().id();
    NodeData data = place.data().with(Map.of(place.key(), next.value()));
    data.check();
    Definition definition = place.node().definition();
    Set<String> inputs = rules.read(definition);
    if (inputs.contains(place.key())) {
      rules.check(definition.type(), values.values(data, inputs));
    }
    model.take(List.of(new Change.Touched(id)));
    StoredValue stored =
        next.grows() ? next.value() : next.value().seenAs(StoredValue.viewOf(model.version()));
    model.replace(id, place.data(), data.with(Map.of(place.key(), stored)));
    return new DataPage(shown, stored.view(), next.slot(), next.next(), false);
  }
}
