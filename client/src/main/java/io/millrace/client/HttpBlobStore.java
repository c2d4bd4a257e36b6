package io.millrace.client;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobName;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.client.HttpExchange.Request;
import io.millrace.client.HttpExchange.StreamedResponse;
import io.millrace.store.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MappingIterator;
import tools.jackson.databind.json.JsonMapper;

/**
 * The blobs of a server, over HTTP/1.1. The routes, relative to the address of the server:
 *
 * <table>
 * <caption>Requests and responses</caption>
 * <tr><th>request</th><th>response</th></tr>
 * <tr><td>{@code PUT blobs/NAME} with the bytes as body</td>
 *     <td>201 or 200, {@code {"name":…,"size":…,"sha256":…}}</td></tr>
 * <tr><td>{@code GET blobs/NAME}</td><td>200 with {@code Content-Length}; 404</td></tr>
 * <tr><td>the same with {@code Range: bytes=N-}</td>
 *     <td>206 with {@code Content-Range: bytes N-M/SIZE}; 416 with {@code Content-Range: bytes
 *     *}{@code /SIZE} when N is at or after the end; 404</td></tr>
 * <tr><td>{@code HEAD blobs/NAME}</td><td>200 with {@code Content-Length}; 404</td></tr>
 * <tr><td>{@code DELETE blobs/NAME}</td><td>204; 404</td></tr>
 * <tr><td>{@code GET blobs?prefix=PREFIX}</td>
 *     <td>200, {@code {"blobs":[{"name":…,"size":…,"modified":"2026-01-31T12:00:00Z"},…]}}</td></tr>
 * </table>
 *
 * <p>Any other response is a {@link BlobException} with the status and the start of the body.
 * Bodies are streamed in both directions. After a put, the size and the checksum in the response
 * are compared with those of the sent bytes. A difference is an error, and the blob must not be
 * used.
 *
 * <p>Every request is sent once. Connecting may take {@link #CONNECT_TIMEOUT}, and a response must
 * start within {@link #RESPONSE_TIMEOUT} of the request, or of the end of the content of a put.
 * Bodies may take any time, as long as the server is never silent for longer than that.
 */
public final class HttpBlobStore implements BlobStore, AutoCloseable {
  /** How long connecting may take: 10 seconds. */
  public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** How long a response may take to begin: 60 seconds. */
  public static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(60);

  private static final int SHOWN_BYTES = 1024;
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes (?:(\\d{1,18})-\\d{1,18}|\\*)/(\\d{1,18})");

  private final HttpTransport server;

  private HttpBlobStore(ClientOptions options) {
    server =
        new HttpTransport(
            options.withConnectTimeout(CONNECT_TIMEOUT).withResponseTimeout(RESPONSE_TIMEOUT),
            Map.of());
  }

  /**
   * The blobs of the server at {@code server}, for example {@code http://127.0.0.1:8048}; a path in
   * the address precedes {@code blobs}. Connects on first use.
   *
   * @throws IllegalArgumentException if it is not an http or https address
   */
  public static HttpBlobStore at(URI server) {
    return at(ClientOptions.at(server));
  }

  /**
   * The same as {@link #at(URI)}, with the header {@code Authorization: Bearer token} in every
   * request.
   *
   * @throws IllegalArgumentException if the token is empty or has characters other than visible
   *     ASCII
   */
  public static HttpBlobStore at(URI server, String token) {
    if (token.isEmpty()) {
      throw new IllegalArgumentException("the token is empty");
    }
    return at(ClientOptions.at(server).withToken(token));
  }

  /** The blobs of the server that the options name. The timeouts of the options do not apply. */
  public static HttpBlobStore at(ClientOptions options) {
    return new HttpBlobStore(options);
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    BlobName.check(name);
    String what = "blob " + name + " cannot be stored";
    MessageDigest digest = Sha256.begin();
    UploadBody source = new UploadBody(null, new DigestInputStream(content, digest), -1);
    try (StreamedResponse response =
        server.open(
            Request.of("PUT", path(name), source, server.responseTimeoutMillis(Duration.ZERO)))) {
      if (response.status() != 200 && response.status() != 201) {
        throw unexpected(response, what);
      }
      BlobReceipt stored = BlobJson.receipt(response, what);
      String sha256 = HexFormat.of().formatHex(digest.digest());
      BlobReceipt sent = new BlobReceipt(name, source.bytesRead(), sha256);
      if (!stored.equals(sent)) {
        throw new BlobException("blob " + name + " was sent as " + sent + ", stored as " + stored);
      }
      return stored;
    } catch (IOException e) {
      IOException unread = source.failure();
      throw unread == null
          ? failed(what, e)
          : new BlobException(what + ": its content could not be read: " + unread, unread);
    }
  }

  @Override
  public BlobStream open(String name, long offset) {
    BlobName.check(name);
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
    Request request = request("GET", path(name));
    String what = "blob " + name + " cannot be opened";
    StreamedResponse response =
        send(offset == 0 ? request : request.with("Range", "bytes=" + offset + "-"), what);
    return switch (response.status()) {
      case 200 -> whole(response, offset, what);
      case 206 -> part(response, offset, what);
      case 416 -> {
        Matcher range = contentRange(response, what);
        response.close();
        yield new BlobStream(InputStream.nullInputStream(), Long.parseLong(range.group(2)));
      }
      case 404 -> {
        var _ = start(response);
        throw new NoSuchBlobException(name);
      }
      default -> throw unexpected(response, what);
    };
  }

  /**
   * The whole blob, which a server without support for ranges sends even if a part was requested.
   */
  private BlobStream whole(StreamedResponse response, long offset, String what) {
    long size = contentLength(response, what);
    try {
      response.skipNBytes(Math.min(offset, size));
    } catch (IOException e) {
      response.close();
      throw failed(what, e);
    }
    return new BlobStream(response, size);
  }

  private BlobStream part(StreamedResponse response, long offset, String what) {
    Matcher range = contentRange(response, what);
    String start = range.group(1);
    if (start == null || Long.parseLong(start) != offset) {
      throw malformed(response, what, "a range that was not requested, " + range.group());
    }
    return new BlobStream(response, Long.parseLong(range.group(2)));
  }

  private Matcher contentRange(StreamedResponse response, String what) {
    String header = response.header("Content-Range");
    Matcher range = CONTENT_RANGE.matcher(header == null ? "" : header);
    if (!range.matches()) {
      throw malformed(response, what, "the Content-Range \"" + header + "\"");
    }
    return range;
  }

  private long contentLength(StreamedResponse response, String what) {
    String header = response.header("Content-Length");
    if (header == null || !header.matches("\\d{1,18}")) {
      throw malformed(response, what, "no Content-Length");
    }
    return Long.parseLong(header);
  }

  @Override
  public OptionalLong size(String name) {
    BlobName.check(name);
    String what = "the size of blob " + name + " cannot be read";
    try (StreamedResponse response = send(request("HEAD", path(name)), what)) {
      return switch (response.status()) {
        case 200 -> OptionalLong.of(contentLength(response, what));
        case 404 -> OptionalLong.empty();
        default -> throw unexpected(response, what);
      };
    }
  }

  @Override
  public boolean delete(String name) {
    BlobName.check(name);
    String what = "blob " + name + " cannot be deleted";
    try (StreamedResponse response = send(request("DELETE", path(name)), what)) {
      return switch (response.status()) {
        case 204 -> true;
        case 404 -> false;
        default -> throw unexpected(response, what);
      };
    }
  }

  @Override
  public Stream<Blob> list(String prefix) {
    BlobName.checkPrefix(prefix);
    String what = "blobs with the prefix \"" + prefix + "\" cannot be listed";
    StreamedResponse response = send(request("GET", "/blobs?prefix=" + prefix), what);
    if (response.status() != 200) {
      throw unexpected(response, what);
    }
    return BlobJson.listing(response, what);
  }

  private static String path(String name) {
    return "/blobs/" + name;
  }

  private Request request(String method, String path) {
    return Request.of(method, path, server.responseTimeoutMillis(Duration.ZERO));
  }

  private StreamedResponse send(Request request, String what) {
    try {
      return server.open(request);
    } catch (IOException e) {
      throw failed(what, e);
    }
  }

  private static BlobException failed(String what, IOException cause) {
    return new BlobException(what + ": " + cause, cause);
  }

  private BlobException unexpected(StreamedResponse response, String what) {
    return new BlobException(
        what + ": " + server + " answered " + response.status() + " " + start(response));
  }

  private BlobException malformed(StreamedResponse response, String what, String problem) {
    response.close();
    return new BlobException(
        what + ": " + server + " answered " + response.status() + " with " + problem);
  }

  /** The start of the body of a response. The rest is discarded. */
  private static String start(StreamedResponse response) {
    try (response) {
      return new String(response.readNBytes(SHOWN_BYTES), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "(its body cannot be read: " + e + ")";
    }
  }

  /** Closes all connections. Running requests fail. */
  @Override
  public void close() {
    server.close();
  }

  /** The JSON in responses about blobs. Methods throw {@link BlobException} if it is malformed. */
  private static final class BlobJson {
    private static final JsonMapper MAPPER =
        JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .build();

    private BlobJson() {}

    /**
     * Reads the response to a put.
     *
     * @param what the failed operation, for messages
     */
    static BlobReceipt receipt(InputStream body, String what) {
      return parsed(() -> MAPPER.readValue(body, BlobReceipt.class), what);
    }

    /**
     * The elements of {@code blobs}, parsed one by one while the stream is read. A truncated
     * response is an error, not a shorter listing.
     *
     * @param what the failed operation, for messages
     */
    static Stream<Blob> listing(InputStream body, String what) {
      JsonParser parser = parsed(() -> MAPPER.createParser(body), what);
      MappingIterator<Blob> blobs =
          parsed(
              () -> {
                if (parser.nextToken() != JsonToken.START_OBJECT
                    || !"blobs".equals(parser.nextName())
                    || parser.nextToken() != JsonToken.START_ARRAY) {
                  parser.close();
                  throw new BlobException(what + ": the response does not start with {\"blobs\":[");
                }
                parser.clearCurrentToken();
                return MAPPER.readerFor(Blob.class).readValues(parser);
              },
              what);
      Iterator<Blob> checked =
          new Iterator<>() {
            @Override
            public boolean hasNext() {
              return parsed(blobs::hasNextValue, what);
            }

            @Override
            public Blob next() {
              return parsed(blobs::nextValue, what);
            }
          };
      return StreamSupport.stream(
              Spliterators.spliteratorUnknownSize(
                  checked, Spliterator.ORDERED | Spliterator.NONNULL),
              false)
          .onClose(parser::close);
    }

    private static <T> T parsed(Supplier<T> reading, String what) {
      try {
        return reading.get();
      } catch (JacksonException e) {
        throw new BlobException(what + ": the response cannot be read: " + e.getMessage(), e);
      }
    }
  }
}
