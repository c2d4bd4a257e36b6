package io.millrace.graph.store;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.blobs.Tail;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.store.NodeData.StoredValue;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Text in pages of bytes, and output in chunks of blobs. Only one page is held in memory. */
final class TextPages {
  /** The most bytes of a page: 256 KiB. */
  static final int PAGE = 256 << 10;

  /** How many bytes of a character can follow its first one. */
  static final int MAX_FOLLOWING = 3;

  /** The bytes of each blob of output but the last: 4 MiB, a number of whole pages. */
  private static final int CHUNK = 4 << 20;

  private static final int WITH_NEXT = PAGE + MAX_FOLLOWING;

  private TextPages() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Parts of at most {@link #PAGE} bytes, cut between characters; at least one. */
  static List<byte[]> split(byte[] text) {
    List<byte[]> pages = new ArrayList<>();
    int from = 0;
    do {
      int to = Math.min(text.length, from + PAGE);
      while (to < text.length && follows(text[to])) {
        to--;
      }
      pages.add(Arrays.copyOfRange(text, from, to));
      from = to;
    } while (from < text.length);
    return pages;
  }

  /**
   * A page from bytes that are cut anywhere: it begins and ends at a character.
   *
   * @param bytes the bytes of the page, and up to {@link #MAX_FOLLOWING} of the next page
   * @param first whether no page comes before it
   * @param last whether nothing can follow these bytes any more
   */
  static String page(byte[] bytes, boolean first, boolean last) {
    int from = first ? 0 : afterFollowing(bytes, 0);
    int to = bytes.length <= PAGE ? bytes.length : afterFollowing(bytes, PAGE);
    boolean whole = last || to < bytes.length || bytes.length > PAGE;
    return from >= to ? "" : of(Arrays.copyOfRange(bytes, from, to), whole);
  }

  private static int afterFollowing(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && at < from + MAX_FOLLOWING && follows(bytes[at])) {
      at++;
    }
    return at;
  }

  private static boolean follows(byte b) {
    return (b & 0xC0) == 0x80;
  }

  /**
   * The text of these bytes, with a replacement character for malformed ones.
   *
   * @param whole whether a character that is cut off at the end is replaced too; otherwise it is
   *     left out
   */
  static String of(byte[] bytes, boolean whole) {
    if (whole) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    CharBuffer text = CharBuffer.allocate(bytes.length);
    var _ = decoder.decode(ByteBuffer.wrap(bytes), text, false);
    return text.flip().toString();
  }

  /** The chunks of stored output. */
  static ChunkedBlob chunks(BlobStore blobs, String name) {
    return new ChunkedBlob(blobs, name + ".", CHUNK);
  }

  /** The names of the blobs of stored output. */
  static Stream<String> blobs(String name, long size) {
    return LongStream.range(0, Math.ceilDiv(size, (long) CHUNK)).mapToObj(it -> name + "." + it);
  }

  /** The common prefix of the blobs of a value, from the name of one. */
  static String family(String blob) {
    int dot = blob.indexOf('.', ValueStore.Upload.PREFIX.length());
    return dot < 0 ? blob : blob.substring(0, dot);
  }

  /** A page of output that may still grow. */
  static DataPage page(Tail tail, String view, int slot) {
    long offset = (long) slot * PAGE;
    byte[] bytes = tail.size() <= offset ? new byte[0] : tail.read(offset, WITH_NEXT);
    return page(bytes, view, slot, true);
  }

  /** A page of stored output. */
  static DataPage page(BlobStore blobs, StoredValue.Recording recording, int slot) {
    byte[] bytes = read(blobs, recording, (long) slot * PAGE, WITH_NEXT);
    return page(bytes, recording.view(), slot, false);
  }

  private static DataPage page(byte[] bytes, String view, int slot, boolean growing) {
    String text = page(bytes, slot == 0, !growing);
    Integer next = bytes.length > PAGE ? slot + 1 : null;
    return new DataPage(Json.text(text), view, slot, next, growing);
  }

  /** Bytes of stored output; less than {@code most} only at its end. */
  static byte[] read(BlobStore blobs, StoredValue.Recording recording, long from, int most) {
    int wanted = Math.clamp(recording.size() - from, 0, most);
    ChunkedBlob chunks = chunks(blobs, recording.name());
    byte[] bytes = wanted == 0 ? new byte[0] : chunks.read(from, wanted);
    if (bytes.length == wanted) {
      return bytes;
    }
    long end = from + bytes.length;
    if (blobs.exists(chunks.chunk(end / CHUNK))) {
      throw new BlobException("output " + recording.name() + " ends early, at byte " + end);
    }
    throw new StaleViewException("the output was replaced meanwhile");
  }
}
