package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * Bodies of documents with names in double braces. They are looked at as bytes: braces are no part
 * of any other character in UTF-8, and thousands of bodies come in one transaction.
 */
final class Template {
  private Template() {}

  /** The body with every <code>{{name}}</code> replaced by what {@code value} gives for it. */
  static Bytes fill(Bytes body, UnaryOperator<String> value) {
    byte[] template = body.toArray();
    byte[] filled = new byte[template.length];
    int length = 0;
    int from = 0;
    while (true) {
      int open = find(template, '{', from);
      int close = open < 0 ? -1 : find(template, '}', open + 2);
      int until = close < 0 ? template.length : open;
      filled = withRoom(filled, length + until - from);
      System.arraycopy(template, from, filled, length, until - from);
      length += until - from;
      if (close < 0) {
        return Bytes.from(ByteBuffer.wrap(filled, 0, length));
      }
      String name = new String(template, open + 2, close - open - 2, StandardCharsets.UTF_8);
      byte[] named = value.apply(name).getBytes(StandardCharsets.UTF_8);
      filled = withRoom(filled, length + named.length);
      System.arraycopy(named, 0, filled, length, named.length);
      length += named.length;
      from = close + 2;
    }
  }

  /** Where a brace stands twice, or -1. */
  private static int find(byte[] text, char brace, int from) {
    for (int i = from; i + 1 < text.length; i++) {
      if (text[i] == brace && text[i + 1] == brace) {
        return i;
      }
    }
    return -1;
  }

  private static byte[] withRoom(byte[] bytes, int length) {
    return length <= bytes.length
        ? bytes
        : Arrays.copyOf(bytes, Math.max(length, 2 * bytes.length));
  }
}
