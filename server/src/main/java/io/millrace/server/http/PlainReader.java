package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.uri.UriValidator;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.http.Http1HeadersParser;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.http1.Http1Prologue;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the heads of plain requests with the library's own parsers. A plain request has a body of a
 * stated length, and no header that changes how it is to be read or answered. What is not plain, or
 * not right, is nobody's business here: the library then reads it again, and says what is wrong.
 *
 * <p>Clients send the same few heads again and again, so those are remembered. For use by one
 * thread.
 */
final class PlainReader {
  private static final int MOST_LENGTH_DIGITS = 9;

  private static final List<HeaderName> NOT_PLAIN =
      List.of(
          HeaderNames.TRANSFER_ENCODING,
          HeaderNames.CONTENT_ENCODING,
          HeaderNames.EXPECT,
          HeaderNames.UPGRADE,
          HeaderNames.TRAILER);

  private final HttpLimits limits;
  private final KnownHeads known = new KnownHeads();

  PlainReader(HttpLimits limits) {
    this.limits = limits;
  }

  /** Whether a head that has come only in part may have so many bytes. */
  boolean mayGrow(int bytes) {
    return bytes < Math.min(limits.maxHeaderBytes(), limits.maxRequestLineBytes());
  }

  /** The request that these bytes begin with; null where it is not plain. */
  @Nullable PlainHead read(byte[] bytes, int headBytes) {
    if (!mayGrow(headBytes)) {
      return null;
    }
    PlainHead before = known.find(bytes, headBytes);
    return before == null ? parse(Arrays.copyOf(bytes, headBytes)) : before;
  }

  private @Nullable PlainHead parse(byte[] head) {
    DataReader reader = new DataReader(new Once(head));
    try {
      HttpPrologue prologue =
          new Http1Prologue(reader, limits.maxRequestLineBytes(), true).readPrologue();
      UriValidator.validateQuery(prologue.query().rawValue());
      Headers headers = Http1HeadersParser.readHeaders(reader, limits.maxHeaderBytes(), true);
      int bodyBytes = isPlain(headers) ? bodyBytes(headers) : -1;
      if (bodyBytes < 0) {
        return null;
      }
      PlainHead plain = new PlainHead(prologue, headers, head.length, bodyBytes);
      known.add(head, plain);
      return plain;
    } catch (RuntimeException _) {
      return null;
    }
  }

  private static boolean isPlain(Headers headers) {
    for (HeaderName name : NOT_PLAIN) {
      if (headers.contains(name)) {
        return false;
      }
    }
    return isKept(headers) && isHost(one(headers, HeaderNames.HOST));
  }

  private static boolean isKept(Headers headers) {
    return !headers.contains(HeaderNames.CONNECTION)
        || "keep-alive".equalsIgnoreCase(one(headers, HeaderNames.CONNECTION));
  }

  private static boolean isHost(@Nullable String host) {
    if (host == null) {
      return false;
    }
    int colon = host.lastIndexOf(':');
    boolean hasPort = colon > host.lastIndexOf(']');
    UriValidator.validateHost(hasPort ? host.substring(0, colon) : host);
    return !hasPort || number(host.substring(colon + 1)) >= 0;
  }

  private static int bodyBytes(Headers headers) {
    String length = one(headers, HeaderNames.CONTENT_LENGTH);
    return length == null ? -1 : number(length);
  }

  /** The number that these digits are; -1 where they are something else. */
  private static int number(String digits) {
    if (digits.isEmpty() || digits.length() > MOST_LENGTH_DIGITS) {
      return -1;
    }
    int number = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }

  /** The value of a header that comes once; null where it does not. */
  private static @Nullable String one(Headers headers, HeaderName name) {
    if (!headers.contains(name)) {
      return null;
    }
    var header = headers.get(name);
    return header.valueCount() == 1 ? header.get() : null;
  }

  /** Gives the bytes, then nothing. */
  private static final class Once implements Supplier<byte @Nullable []> {
    private byte @Nullable [] bytes;

    Once(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public byte @Nullable [] get() {
      byte[] given = bytes;
      bytes = null;
      return given;
    }
  }
}
