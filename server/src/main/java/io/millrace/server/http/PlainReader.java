package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.uri.UriValidator;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.http.Http1HeadersParser;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.http1.Http1Prologue;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has the library read the heads of plain requests. If it has something to say about one, it is
 * handed to a thread, on which the library reads it again and says what is wrong.
 *
 * <p>Clients send the same few heads again and again, so those are remembered. For use by one
 * thread.
 */
final class PlainReader {
  private static final int MOST_BODY_BYTES = Inbox.MOST_BYTES;

  private final HttpLimits limits;
  private final KnownHeads known = new KnownHeads();

  PlainReader(HttpLimits limits) {
    this.limits = limits;
  }

  /** The meaning of a head that is remembered; null if it is not. */
  @Nullable PlainHead known(byte[] bytes, int headBytes) {
    return known.find(bytes, headBytes);
  }

  /**
   * The head of a plain request.
   *
   * @param head as it was read
   * @param bytes the head itself, and what follows
   * @return null if the request is not plain, or if the library has something to say about it
   */
  @Nullable PlainHead read(Head head, byte[] bytes, int headBytes) {
    if (!head.isPlain()
        || head.bodyBytes() > MOST_BODY_BYTES
        || headBytes >= Math.min(limits.maxHeaderBytes(), limits.maxRequestLineBytes())) {
      return null;
    }
    DataReader reader = new DataReader(new Once(head.forLibrary()));
    try {
      HttpPrologue prologue =
          new Http1Prologue(reader, limits.maxRequestLineBytes(), true).readPrologue();
      UriValidator.validateQuery(prologue.query().rawValue());
      Headers headers = Http1HeadersParser.readHeaders(reader, limits.maxHeaderBytes(), true);
      UriValidator.validateHost(hostName(headers.get(HeaderNames.HOST).get()));
      PlainHead plain = new PlainHead(prologue, headers, headBytes, (int) head.bodyBytes());
      known.add(Arrays.copyOf(bytes, headBytes), plain);
      return plain;
    } catch (RuntimeException _) {
      return null;
    }
  }

  private static String hostName(String host) {
    int colon = host.lastIndexOf(':');
    return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
  }

  /** Gives the bytes, then nothing. */
  static final class Once implements Supplier<byte @Nullable []> {
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
