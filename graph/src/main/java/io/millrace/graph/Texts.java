package io.millrace.graph;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text in pages of bytes. */
final class Texts {
  /** The most bytes of a page: 256 KiB. */
  static final int PAGE = 256 << 10;

  /** How many bytes of a character can follow its first one. */
  static final int MOST_FOLLOWING = 3;

  private Texts() {}

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
   * A page out of bytes that are cut anywhere: it begins and ends where a character does.
   *
   * @param bytes those of the page, and up to {@link #MOST_FOLLOWING} of the next one
   * @param first whether nothing is before it
   * @param last whether nothing will ever come after these bytes
   */
  static String page(byte[] bytes, boolean first, boolean last) {
    int from = first ? 0 : afterFollowing(bytes, 0);
    int to = bytes.length <= PAGE ? bytes.length : afterFollowing(bytes, PAGE);
    boolean whole = last || to < bytes.length || bytes.length > PAGE;
    return from >= to ? "" : of(Arrays.copyOfRange(bytes, from, to), whole);
  }

  private static int afterFollowing(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && at < from + MOST_FOLLOWING && follows(bytes[at])) {
      at++;
    }
    return at;
  }

  private static boolean follows(byte b) {
    return (b & 0xC0) == 0x80;
  }

  /**
   * The text of these bytes, with a replacement character for what is none.
   *
   * @param whole whether a character that is cut off at the end is replaced too; it is left out
   *     otherwise
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
}
