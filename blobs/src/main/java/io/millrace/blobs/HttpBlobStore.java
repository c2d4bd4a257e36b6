package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Blobs in a server, over HTTP/1.1. The routes, relative to the server's address:
 *
 * <table>
 * <caption>What the server serves</caption>
 * <tr><th>request</th><th>answer</th></tr>
 * <tr><td>{@code PUT blobs/NAME}, the body being the bytes</td>
 *     <td>201 or 200, {@code {"name":…,"size":…,"sha256":…}}</td></tr>
 * <tr><td>{@code GET blobs/NAME}</td><td>200 with {@code Content-Length}; 404</td></tr>
 * <tr><td>the same with {@code Range: bytes=N-}</td>
 *     <td>206 with {@code Content-Range: bytes N-M/SIZE}; 416 with {@code Content-Range: bytes
 *     *}{@code /SIZE} when N is at or past the end; 404</td></tr>
 * <tr><td>{@code HEAD blobs/NAME}</td><td>200 with {@code Content-Length}; 404</td></tr>
 * <tr><td>{@code DELETE blobs/NAME}</td><td>204; 404</td></tr>
 * <tr><td>{@code GET blobs?prefix=PREFIX}</td>
 *     <td>200, {@code {"blobs":[{"name":…,"size":…,"modified":"2026-01-31T12:00:00Z"},…]}}</td></tr>
 * </table>
 *
 * <p>Anything else is a {@link BlobException} that shows the status and the start of the body.
 * Bodies are streamed both ways. What was put is compared with the size and checksum that the
 * server answers; a difference is an error, and the blob is not to be trusted.
 *
 * <p>Nothing is asked twice by this class. A connection has {@link #CONNECT_TIMEOUT} to come about,
 * and an answer has {@link #ANSWER_TIMEOUT} to begin, counted from the request, or for a put from
 * the moment that its content has been read; sending and receiving bodies may take any time.
 */
public final class HttpBlobStore implements BlobStore, AutoCloseable {
  /** How long a connection may take to come about: 10 seconds. */
  public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** How long an answer may take to begin: 60 seconds. */
  public static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);

  private final URI blobs;
  private final @Nullable String token;
  private final HttpExchange exchange;

  private HttpBlobStore(URI server, @Nullable String token, @Nullable SSLContext tls) {
    String address = server.toString();
    this.blobs = URI.create(address.endsWith("/") ? address + "blobs" : address + "/blobs");
    this.token = token;
    HttpClient.Builder client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT);
    this.exchange = new HttpExchange((tls == null ? client : client.sslContext(tls)).build());
  }

  /**
   * A store in the server at {@code server}, as {@code http://127.0.0.1:8080}, or with a path below
   * which {@code blobs} is. Nothing is sent yet.
   *
   * @throws IllegalArgumentException when it is no http or https address
   */
  public static HttpBlobStore at(URI server) {
    return new HttpBlobStore(checked(server), null, null);
  }

  /**
   * As {@link #at(URI)}, sending {@code Authorization: Bearer token} with every request.
   *
   * @throws IllegalArgumentException when the token is empty or has characters other than visible
   *     ASCII
   */
  public static HttpBlobStore at(URI server, String token) {
    return new HttpBlobStore(checked(server), checked(token), null);
  }

  /**
   * As {@link #at(URI, String)}, with a choice of whom to trust.
   *
   * @param token null for none
   * @param tls the context in which {@code https} is spoken
   */
  public static HttpBlobStore at(URI server, @Nullable String token, SSLContext tls) {
    return new HttpBlobStore(checked(server), token == null ? null : checked(token), tls);
  }

  private static String checked(String token) {
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException(
          "a bearer token is not empty and consists of visible ASCII characters");
    }
    return token;
  }

  private static URI checked(URI server) {
    String scheme = server.getScheme();
    boolean http = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!http || server.getHost() == null || server.getRawQuery() != null) {
      throw new IllegalArgumentException("not the http address of a server: " + server);
    }
    return server;
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    BlobName.check(name);
    Digesting source = new Digesting(content);
    HttpRequest request = request(name).PUT(UploadBody.of(source)).build();
    String what = "blob " + name + " cannot be stored";
    try (InputStream body = exchange.upload(request, source, what).body()) {
      BlobReceipt stored = BlobJson.receipt(body);
      BlobReceipt sent = source.receipt(name);
      if (!stored.equals(sent)) {
        throw new BlobException("blob " + name + " was sent as " + sent + ", stored as " + stored);
      }
      return stored;
    } catch (IOException e) {
      throw new BlobException(what + ": its answer cannot be read: " + e, e);
    }
  }

  @Override
  public BlobStream open(String name, long offset) {
    BlobName.check(name);
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
    HttpRequest.Builder request = request(name).timeout(ANSWER_TIMEOUT);
    if (offset > 0) {
      request.header("Range", "bytes=" + offset + "-");
    }
    String what = "blob " + name + " cannot be opened";
    HttpResponse<InputStream> answer = exchange.send(request.build(), what);
    return switch (answer.statusCode()) {
      case 200 -> Download.whole(answer, offset, what);
      case 206 -> Download.part(answer, offset, what);
      case 416 -> Download.pastTheEnd(answer, what);
      case 404 -> {
        HttpExchange.discard(answer);
        throw new NoSuchBlobException(name);
      }
      default -> throw HttpExchange.unexpected(answer, what);
    };
  }

  @Override
  public OptionalLong size(String name) {
    BlobName.check(name);
    HttpRequest request = request(name).timeout(ANSWER_TIMEOUT).HEAD().build();
    String what = "the size of blob " + name + " cannot be read";
    HttpResponse<InputStream> answer = exchange.send(request, what);
    return switch (answer.statusCode()) {
      case 200 -> {
        HttpExchange.discard(answer);
        yield OptionalLong.of(Download.contentLength(answer, what));
      }
      case 404 -> {
        HttpExchange.discard(answer);
        yield OptionalLong.empty();
      }
      default -> throw HttpExchange.unexpected(answer, what);
    };
  }

  @Override
  public boolean delete(String name) {
    BlobName.check(name);
    HttpRequest request = request(name).timeout(ANSWER_TIMEOUT).DELETE().build();
    String what = "blob " + name + " cannot be deleted";
    HttpResponse<InputStream> answer = exchange.send(request, what);
    return switch (answer.statusCode()) {
      case 204, 404 -> {
        HttpExchange.discard(answer);
        yield answer.statusCode() == 204;
      }
      default -> throw HttpExchange.unexpected(answer, what);
    };
  }

  @Override
  public Stream<Blob> list(String prefix) {
    BlobName.checkPrefix(prefix);
    HttpRequest request =
        addressed(URI.create(blobs + "?prefix=" + prefix)).timeout(ANSWER_TIMEOUT).build();
    String what = "blobs with the prefix \"" + prefix + "\" cannot be listed";
    HttpResponse<InputStream> answer = exchange.send(request, what);
    if (answer.statusCode() != 200) {
      throw HttpExchange.unexpected(answer, what);
    }
    return BlobJson.listing(answer.body(), what);
  }

  private HttpRequest.Builder request(String name) {
    return addressed(URI.create(blobs + "/" + name));
  }

  private HttpRequest.Builder addressed(URI uri) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  /** Ends what still runs and closes the connections. */
  @Override
  public void close() {
    exchange.close();
  }
}
