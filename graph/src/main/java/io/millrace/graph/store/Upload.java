package io.millrace.graph.store;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.blobs.Value;
import io.millrace.graph.GraphException.InvalidGraphException;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Values that are written for one change, their blobs before it; nobody deletes those until this is
 * closed. For use by one thread.
 */
final class Upload implements AutoCloseable {
  /** The most pages of a text: 4,096, which are 1 GiB. */
  static final int MOST_PAGES = 4_096;

  /** The most bytes of a value that is no text, written as JSON: 1 MiB. */
  static final int MOST_BYTES = 1 << 20;

  /** How often lists and objects may be within each other. */
  static final int MOST_LEVELS = 100;

  /** What the names of all blobs of graphs begin with. */
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
   * @throws InvalidGraphException where it is too large, or nested too deeply
   */
  StoredValue value(JsonNode value) {
    if (Json.isDeeper(value, MOST_LEVELS)) {
      throw new InvalidGraphException(
          "the value has lists and objects in more than " + MOST_LEVELS + " levels");
    }
    byte[] json = Json.write(value).toArray();
    if (json.length <= Value.INLINE_LIMIT) {
      return new StoredValue.Inline(value, "");
    }
    if (value.isString()) {
      return pages(value.asString());
    }
    if (json.length > MOST_BYTES) {
      throw new InvalidGraphException(
          "the value has " + json.length + " bytes; one that is no text has up to " + MOST_BYTES);
    }
    return new StoredValue.Whole(blob(json), "");
  }

  private StoredValue pages(String text) {
    List<byte[]> parts = TextPages.split(TextPages.bytes(text));
    if (parts.size() > MOST_PAGES) {
      throw new InvalidGraphException(
          "the text has " + parts.size() + " pages of 256 KiB; up to " + MOST_PAGES + " are kept");
    }
    List<Value> pages = new ArrayList<>(parts.size());
    parts.forEach(part -> pages.add(page(part, pages.isEmpty())));
    return new StoredValue.Pages(pages, "");
  }

  /**
   * Stores a page of a text.
   *
   * @throws InvalidGraphException where it is no text, or too large for a page
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

  /** Stores what a command wrote, which does not grow any more. */
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
