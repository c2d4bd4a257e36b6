package io.millrace.graph.store;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.Tail;
import io.millrace.blobs.Value;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.NodeId;
import io.millrace.graph.store.NodeData.StoredValue;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** Reads and writes the values of data, and their blobs. Safe for use by any number of threads. */
final class ValueStore {
  /** The common prefix of the blobs of archived nodes. */
  static final String ARCHIVED = "archived-graph.";

  private static final Logger LOG = LoggerFactory.getLogger(ValueStore.class);

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

  /** Whether a current change will refer to this blob. */
  boolean isUnderWay(String blob) {
    return underWay.contains(TextPages.family(blob));
  }

  /** Takes note of a blob that is no longer referred to. */
  void discard(String blob) {
    discarded.add(blob);
  }

  /** One of these blobs, each once; null for none. */
  @Nullable String discarded() {
    return discarded.poll();
  }

  /**
   * Gives the blobs of a node's data other names, under which they stay when the node has been
   * removed.
   *
   * @return the data with these names
   */
  NodeData archive(NodeId id, NodeData data) {
    AtomicInteger number = new AtomicInteger();
    NodeData archived = data.renamed(_ -> ARCHIVED + id + "." + number.getAndIncrement());
    Iterator<String> names = archived.blobs().iterator();
    data.blobs()
        .forEach(name -> {
          String copy = names.next();
          try {
            if (!blobs.link(name, copy)) {
              try (InputStream content = blobs.open(name)) {
                blobs.put(copy, content);
              }
            }
          } catch (NoSuchBlobException e) {
            LOG.warn("node {} is archived without a part of its data: {}", id, e.getMessage());
          } catch (IOException e) {
            throw new BlobException("a value of the graph cannot be read: " + e, e);
          }
        });
    return archived;
  }

  /** The node to whose archived data a blob belongs; empty if its name is another. */
  static Optional<NodeId> archivedNode(String blob) {
    int dot = blob.indexOf('.', ARCHIVED.length());
    return blob.startsWith(ARCHIVED) && dot > 0
        ? NodeId.parse(blob.substring(ARCHIVED.length(), dot))
        : Optional.empty();
  }

  /** Begins to write the values of one change; to be closed when the change is over. */
  Upload upload() {
    return new Upload(blobs, names, underWay);
  }

  /** The values of these keys, as far as they are set. */
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

  /** A page of a value; an empty page past its end. */
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

  /**
   * Writes the values of one change, with their blobs before the commit. These blobs are not
   * deleted until this is closed. For use by one thread.
   */
  static final class Upload implements AutoCloseable {
    /** The most pages of a text: 4,096, which are 1 GiB. */
    static final int MAX_PAGES = 4_096;

    /** The most bytes of a value that is not a text, written as JSON: 1 MiB. */
    static final int MAX_BYTES = 1 << 20;

    /** How deeply lists and objects may be nested. */
    static final int MAX_LEVELS = 100;

    /** The common prefix of the blobs of all graphs. */
    static final String PREFIX = "graph.";

    private final BlobStore blobs;
    private final RandomNames names;
    private final Set<String> underWay;
    private final List<String> own = new ArrayList<>();

    Upload(BlobStore blobs, RandomNames names, Set<String> underWay) {
      this.blobs = blobs;
      this.names = names;
      this.underWay = underWay;
    }

    /**
     * Stores a value.
     *
     * @throws InvalidGraphException if it is too large, or nested too deeply
     */
    StoredValue value(JsonNode value) {
      if (Json.isDeeper(value, MAX_LEVELS)) {
        throw new InvalidGraphException(
            "the value has lists and objects in more than " + MAX_LEVELS + " levels");
      }
      byte[] json = Json.write(value).toArray();
      if (json.length <= Value.INLINE_LIMIT) {
        return new StoredValue.Inline(value, "");
      }
      if (value.isString()) {
        return pages(value.asString());
      }
      if (json.length > MAX_BYTES) {
        throw new InvalidGraphException(
            "the value has " + json.length + " bytes; one that is no text has up to " + MAX_BYTES);
      }
      return new StoredValue.Whole(blob(json), "");
    }

    private StoredValue pages(String text) {
      List<byte[]> parts = TextPages.split(TextPages.bytes(text));
      if (parts.size() > MAX_PAGES) {
        throw new InvalidGraphException(
            "the text has " + parts.size() + " pages of 256 KiB; up to " + MAX_PAGES + " are kept");
      }
      List<Value> pages = new ArrayList<>(parts.size());
      parts.forEach(part -> pages.add(page(part, pages.isEmpty())));
      return new StoredValue.Pages(pages, "");
    }

    /**
     * Stores a page of a text.
     *
     * @throws InvalidGraphException if it is not a text, or too large for a page
     */
    Value page(JsonNode text, int slot) {
      if (!text.isString()) {
        throw new InvalidGraphException("a page of data is a text");
      }
      byte[] bytes = TextPages.bytes(text.asString());
      if (bytes.length > TextPages.PAGE) {
        throw new InvalidGraphException(
            "a page of data has up to " + TextPages.PAGE + " bytes, not " + bytes.length);
      }
      return page(bytes, slot == 0);
    }

    private Value page(byte[] text, boolean first) {
      return first && text.length <= Value.INLINE_LIMIT ? new Value.Inline(text) : blob(text);
    }

    private Value.Stored blob(byte[] content) {
      String name = name();
      return new Value.Stored(name, blobs.put(name, new ByteArrayInputStream(content)).size());
    }

    /** Stores the output of a command, which no longer grows. */
    StoredValue recording(Tail tail) {
      long size = tail.size();
      if (size <= Value.INLINE_LIMIT) {
        byte[] bytes = size == 0 ? new byte[0] : tail.read(0, (int) size);
        return new StoredValue.Inline(Json.text(TextPages.of(bytes, true)), "");
      }
      String name = name();
      TextPages.chunks(blobs, name).copyOf(tail, size);
      return new StoredValue.Recording(name, size, "");
    }

    private String name() {
      String name = PREFIX + names.next();
      underWay.add(name);
      own.add(name);
      return name;
    }

    @Override
    public void close() {
      own.forEach(underWay::remove);
    }
  }

  /** Draws unique names. Safe for use by threads, which share the generator under its own lock. */
  record RandomNames(RandomGenerator random) {
    private static final int BYTES = 16;

    /** Bytes that nobody can guess. */
    byte[] bytes(int count) {
      byte[] bytes = new byte[count];
      synchronized (random) {
        random.nextBytes(bytes);
      }
      return bytes;
    }

    /** A name of 32 hexadecimal digits. */
    String next() {
      return HexFormat.of().formatHex(bytes(BYTES));
    }
  }
}
