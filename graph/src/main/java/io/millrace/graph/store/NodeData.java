package io.millrace.graph.store;

import io.millrace.blobs.Value;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The data of a node, as it is stored. Immutable.
 *
 * @param values the values by key
 */
record NodeData(SortedMap<String, StoredValue> values) {
  /**
   * The most bytes of it that may be written: 640 KiB. This is less than the limit of a document,
   * so that there is always room for the output of a command.
   */
  private static final int MAX_BYTES = 640 << 10;

  private static final int FEW = 100;

  /** No data. */
  static final NodeData EMPTY = new NodeData(Collections.emptySortedMap());

  NodeData {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  static NodeData read(Document document) {
    return Json.read(document, NodeData::read);
  }

  static NodeData read(JsonNode json) {
    TreeMap<String, StoredValue> values = new TreeMap<>();
    json.forEachEntry((key, value) -> values.put(key, StoredValue.read(value)));
    return new NodeData(values);
  }

  Bytes write() {
    return Json.write(json());
  }

  ObjectNode json() {
    ObjectNode json = Json.object();
    values.forEach((key, value) -> value.write(json.putObject(key)));
    return json;
  }

  NodeData with(Map<String, StoredValue> more) {
    TreeMap<String, StoredValue> all = new TreeMap<>(values);
    all.putAll(more);
    return new NodeData(all);
  }

  NodeData without(Set<String> keys) {
    TreeMap<String, StoredValue> left = new TreeMap<>(values);
    left.keySet().removeAll(keys);
    return new NodeData(left);
  }

  /** The same with this view for all values. */
  NodeData seenAs(String view) {
    TreeMap<String, StoredValue> all = new TreeMap<>(values);
    all.replaceAll((_, value) -> value.seenAs(view));
    return new NodeData(all);
  }

  /** The same with other names of its blobs; of a recording, of their common prefix. */
  NodeData renamed(UnaryOperator<String> name) {
    TreeMap<String, StoredValue> all = new TreeMap<>(values);
    all.replaceAll((_, value) -> value.renamed(name));
    return new NodeData(all);
  }

  /** Throws {@link InvalidGraphException} if it may not be stored. */
  void check() {
    if (values.size() > DataRules.MAX_KEYS) {
      throw new InvalidGraphException(
          values.size() + " keys are too many for one node; it has up to " + DataRules.MAX_KEYS);
    }
    // A few values always fit, so they need not be written to find out.
    long parts = values.size() + blobs().count();
    int size = parts <= FEW ? 0 : write().size();
    if (size > MAX_BYTES) {
      throw new InvalidGraphException(
          "all data of the node would take "
              + size
              + " bytes; up to "
              + MAX_BYTES
              + " are kept, of which a value over 4,096 bytes takes only some");
    }
  }

  /** The names of its blobs. */
  Stream<String> blobs() {
    return values.values().stream().flatMap(StoredValue::blobs);
  }

  /** A value of a node's data, as it is stored. Immutable. */
  sealed interface StoredValue {
    /** What all pages that are read of it share; it changes with every change except growth. */
    String view();

    /** A small value. */
    record Inline(JsonNode value, String view) implements StoredValue {}

    /** A value that is neither a text nor small. */
    record Whole(Value.Stored blob, String view) implements StoredValue {}

    /** A text in pages, of which only the first one may be inline. */
    record Pages(List<Value> pages, String view) implements StoredValue {
      public Pages {
        pages = List.copyOf(pages);
      }
    }

    /**
     * Long output in blobs of 4 MiB each; the last one is shorter.
     *
     * @param name the common prefix of their names
     * @param size the size of all together, in bytes
     */
    record Recording(String name, long size, String view) implements StoredValue {}

    /** The same with another view. */
    default StoredValue seenAs(String newView) {
      return switch (this) {
        case Inline(JsonNode value, String _) -> new Inline(value, newView);
        case Whole(Value.Stored blob, String _) -> new Whole(blob, newView);
        case Pages(List<Value> pages, String _) -> new Pages(pages, newView);
        case Recording(String name, long size, String _) -> new Recording(name, size, newView);
      };
    }

    /** The same with other names of its blobs; of a recording, of their common prefix. */
    default StoredValue renamed(UnaryOperator<String> name) {
      return switch (this) {
        case Inline inline -> inline;
        case Whole(Value.Stored blob, String view) -> new Whole(renamed(blob, name), view);
        case Pages(List<Value> pages, String view) ->
            new Pages(
                pages.stream()
                    .<Value>map(
                        page -> page instanceof Value.Stored stored ? renamed(stored, name) : page)
                    .toList(),
                view);
        case Recording(String prefix, long size, String view) ->
            new Recording(name.apply(prefix), size, view);
      };
    }

    private static Value.Stored renamed(Value.Stored blob, UnaryOperator<String> name) {
      return new Value.Stored(name.apply(blob.name()), blob.size());
    }

    /** The names of its blobs. */
    default Stream<String> blobs() {
      return switch (this) {
        case Inline _ -> Stream.of();
        case Whole whole -> Stream.of(whole.blob().name());
        case Pages texts -> texts.pages().stream().flatMap(StoredValue::blob);
        case Recording recording -> TextPages.blobs(recording.name(), recording.size());
      };
    }

    private static Stream<String> blob(Value page) {
      return page instanceof Value.Stored stored ? Stream.of(stored.name()) : Stream.of();
    }

    /** The view of the output of an attempt, while it runs and after it. */
    static String viewOf(int attempt) {
      return "a" + attempt;
    }

    /** The view of a value that was written with this version of the graph. */
    static String viewOf(long version) {
      return "v" + version;
    }

    static StoredValue read(JsonNode json) {
      String view = json.required("view").asString();
      if (json.has("blob")) {
        return new Whole(blob(json), view);
      }
      if (json.has("recording")) {
        String name = json.required("recording").asString();
        return new Recording(name, json.required("size").asLong(), view);
      }
      if (json.has("pages")) {
        List<Value> pages = new ArrayList<>();
        for (JsonNode page : json.required("pages")) {
          pages.add(
              page.has("blob")
                  ? blob(page)
                  : new Value.Inline(TextPages.bytes(page.required("text").asString())));
        }
        return new Pages(pages, view);
      }
      return new Inline(json.required("value"), view);
    }

    private static Value.Stored blob(JsonNode json) {
      return new Value.Stored(json.required("blob").asString(), json.required("size").asLong());
    }

    /** Writes it into the fields of an object. */
    default void write(ObjectNode json) {
      switch (this) {
        case Inline inline -> json.set("value", inline.value());
        case Whole whole -> putBlob(json, whole.blob());
        case Recording recording -> {
          json.put("recording", recording.name());
          json.put("size", recording.size());
        }
        case Pages texts -> {
          ArrayNode array = json.putArray("pages");
          for (Value page : texts.pages()) {
            switch (page) {
              case Value.Inline inline ->
                  array.addObject().put("text", TextPages.of(inline.bytes(), true));
              case Value.Stored stored -> putBlob(array.addObject(), stored);
            }
          }
        }
      }
      json.put("view", view());
    }

    private static void putBlob(ObjectNode json, Value.Stored blob) {
      json.put("blob", blob.name());
      json.put("size", blob.size());
    }
  }
}
