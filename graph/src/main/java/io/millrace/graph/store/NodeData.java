package io.millrace.graph.store;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/**
 * The data of a node, as it is stored. Immutable.
 *
 * @param values by key
 */
record NodeData(SortedMap<String, StoredValue> values) {
  /**
   * The most bytes of it that may be written: 640 KiB. Less than a document has, so that what a
   * command puts out always has room.
   */
  private static final int MOST_BYTES = 640 << 10;

  private static final int FEW = 100;

  /** None. */
  static final NodeData EMPTY = new NodeData(Collections.emptySortedMap());

  NodeData {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  static NodeData read(Document document) {
    return Json.read(
        document,
        json -> {
          TreeMap<String, StoredValue> values = new TreeMap<>();
          json.forEachEntry((key, value) -> values.put(key, StoredValue.read(value)));
          return new NodeData(values);
        });
  }

  Bytes write() {
    ObjectNode json = Json.object();
    values.forEach((key, value) -> value.write(json.putObject(key)));
    return Json.write(json);
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

  /** The same with all values seen so. */
  NodeData seenAs(String view) {
    TreeMap<String, StoredValue> all = new TreeMap<>(values);
    all.replaceAll((_, value) -> value.seenAs(view));
    return new NodeData(all);
  }

  /** Whether it may be stored, or else throws {@link InvalidGraphException}. */
  void check() {
    if (values.size() > DataRules.MOST_KEYS) {
      throw new InvalidGraphException(
          values.size() + " keys are too many for one node; it has up to " + DataRules.MOST_KEYS);
    }
    // Few values are small enough whatever they are, so that they need not be written to know it.
    long parts = values.size() + blobs().count();
    int size = parts <= FEW ? 0 : write().size();
    if (size > MOST_BYTES) {
      throw new InvalidGraphException(
          "all data of the node would take "
              + size
              + " bytes; up to "
              + MOST_BYTES
              + " are kept, of which a value over 4,096 bytes takes only some");
    }
  }

  /** The names of its blobs. */
  Stream<String> blobs() {
    return values.values().stream().flatMap(StoredValue::blobs);
  }
}
