package io.millrace.graph.store;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Value;
import io.millrace.graph.DataPage;
import io.millrace.graph.GraphException.StaleViewException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads and writes the values of data, and their blobs. Safe for use by any number of threads. */
final class ValueStore {
  private final BlobStore blobs;
  private final RandomNames names;

  /** Blobs that are written and may become part of the graph. */
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();

  private final Queue<String> discarded = new ConcurrentLinkedQueue<>();

  ValueStore(BlobStore blobs, RandomNames names) {
    this.blobs = blobs;
    this.names = names;
  }

  BlobStore blobs() {
    return blobs;
  }

  /** Whether a change is under way that will name this blob. */
  boolean isUnderWay(String blob) {
    return underWay.contains(TextPages.family(blob));
  }

  /** Takes note of a blob that no node names any more. */
  void discard(String blob) {
    discarded.add(blob);
  }

  /** One of those, once; null for none. */
  @Nullable String discarded() {
    return discarded.poll();
  }

  /** Begins to write values for one change; to be closed when that is over. */
  Upload upload() {
    return new Upload(blobs, names, underWay);
  }

  /** The values of some keys, those that are there. */
  Map<String, JsonNode> values(NodeData data, Set<String> keys) {
    Map<String, JsonNode> values = new TreeMap<>();
    data.values()
        .forEach((key, value) -> {
          if (keys.contains(key)) {
            values.put(key, whole(value));
          }
        });
    return values;
  }

  private JsonNode whole(StoredValue value) {
    return switch (value) {
      case StoredValue.Inline inline -> inline.value();
      case StoredValue.Whole whole -> Json.read(bytes(whole.blob()));
      case StoredValue.Pages texts -> {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        texts.pages().forEach(page -> all.writeBytes(bytes(page)));
        yield Json.text(TextPages.of(all.toByteArray(), true));
      }
      case StoredValue.Recording recording ->
          Json.text(TextPages.of(TextPages.read(blobs, recording, 0, Integer.MAX_VALUE), true));
    };
  }

  /** A page of a value, an empty one past its end. */
  DataPage page(StoredValue value, int slot) {
    return switch (value) {
      case StoredValue.Inline inline -> single(inline.value(), inline.view(), slot);
      case StoredValue.Whole whole -> single(Json.read(bytes(whole.blob())), whole.view(), slot);
      case StoredValue.Pages(List<Value> pages, String view) -> {
        String text = slot < pages.size() ? TextPages.of(bytes(pages.get(slot)), true) : "";
        Integer next = slot + 1 < pages.size() ? slot + 1 : null;
        yield new DataPage(Json.text(text), view, slot, next, false);
      }
      case StoredValue.Recording recording -> TextPages.page(blobs, recording, slot);
    };
  }

  private static DataPage single(JsonNode value, String view, int slot) {
    return new DataPage(slot == 0 ? value : Json.text(""), view, slot, null, false);
  }

  private byte[] bytes(Value value) {
    try (InputStream content = value.open(blobs)) {
      return content.readAllBytes();
    } catch (NoSuchBlobException e) {
      throw new StaleViewException("the value was replaced meanwhile: " + e.getMessage());
    } catch (IOException e) {
      throw new BlobException("a value of the graph cannot be read: " + e, e);
    }
  }
}
