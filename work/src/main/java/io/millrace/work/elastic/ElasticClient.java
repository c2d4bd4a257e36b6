package io.millrace.work.elastic;

import io.millrace.store.environment.DurationText;
import io.millrace.work.TrustedCertificates;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends requests to an engine. Each is sent once and ends within the timeout. Connects on first
 * use. Thread-safe.
 */
public final class ElasticClient implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final String base;
  private final @Nullable Credentials credentials;
  private final Duration timeout;
  private final HttpClient client;
  private volatile boolean closed;

  /**
   * A client of the engine at an address.
   *
   * @param server {@code http} or {@code https}, with a path if it has one
   * @param credentials the credentials; null for none
   * @param certificates a file of certificates to trust over {@code https}, PEM or DER; null for
   *     those that the JVM trusts. The host name is always checked
   * @param timeout the maximum duration of a request
   * @throws IllegalArgumentException if the certificates cannot be read
   */
  public ElasticClient(
      URI server,
      @Nullable Credentials credentials,
      @Nullable Path certificates,
      Duration timeout) {
    this.credentials = credentials;
    this.timeout = timeout;
    base = server.toString().replaceFirst("/$", "");
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout)
            .followRedirects(HttpClient.Redirect.NEVER);
    if (certificates != null) {
      builder.sslContext(TrustedCertificates.context(certificates));
    }
    client = builder.build();
  }

  /** A request failed before it was sent; the engine cannot have seen it. */
  public static final class NotSentException extends IOException {
    private static final long serialVersionUID = 1;

    NotSentException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * Sends a request and waits for the complete response.
   *
   * @param path the path below the address, percent-encoded
   * @param json the body; null for none
   * @throws NotSentException if the engine cannot have seen it
   * @throws IOException if the engine may have seen it, and there was no response in time
   */
  public HttpResponse<byte[]> send(String method, String path, @Nullable String json)
      throws IOException {
    if (closed) {
      throw new NotSentException("the connection is closed", null);
    }
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      answer =
          client.sendAsync(request(method, path, json), HttpResponse.BodyHandlers.ofByteArray());
    } catch (RuntimeException e) {
      throw new NotSentException("cannot send a request to " + base + ": " + e, e);
    }
    try {
      return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw failed(e);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new IOException("no answer from " + base + " within " + DurationText.show(timeout), e);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + base, e);
    }
  }

  private HttpRequest request(String method, String path, @Nullable String json) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path)).header("Accept", "application/json");
    if (json == null) {
      request.method(method, HttpRequest.BodyPublishers.noBody());
    } else {
      request
          .header("Content-Type", "application/json")
          .method(method, HttpRequest.BodyPublishers.ofString(json, StandardCharsets.UTF_8));
    }
    if (credentials != null) {
      request.header("Authorization", credentials.header());
    }
    return request.build();
  }

  private IOException failed(ExecutionException failure) {
    Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
    String message = base + ": " + cause;
    boolean notSent = false;
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof CertificateException) {
        return new NotSentException(
            "the certificate of %s is not trusted: %s".formatted(base, each.getMessage()), cause);
      }
      if (each instanceof ConnectException
          || each instanceof HttpConnectTimeoutException
          || each instanceof SSLHandshakeException) {
        notSent = true;
      }
    }
    return notSent ? new NotSentException(message, cause) : new IOException(message, cause);
  }

  /** The engine's name for the type of an error; empty for none. */
  public static String errorType(byte[] body) {
    try {
      return tree(body).path("error").path("type").asString("");
    } catch (IOException _) {
      return "";
    }
  }

  /** The engine's description of an error. */
  public static String error(byte[] body) {
    try {
      JsonNode answer = tree(body);
      JsonNode error = answer.path("error");
      String reason = error.path("reason").asString("");
      return reason.isEmpty() ? answer.toString() : reason;
    } catch (IOException _) {
      String text = new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8);
      return text.isBlank() ? "no reason given" : text.strip();
    }
  }

  /**
   * A complete response.
   *
   * @throws IOException if it is not JSON
   */
  public static JsonNode tree(byte[] body) throws IOException {
    try {
      return JSON.readTree(body);
    } catch (JacksonException e) {
      throw new IOException("the answer cannot be read: " + e.getOriginalMessage(), e);
    }
  }

  /** The maximum duration of a request. */
  public Duration timeout() {
    return timeout;
  }

  @Override
  public String toString() {
    return base;
  }

  /** Aborts pending requests; later ones are not sent. */
  @Override
  public void close() {
    closed = true;
    client.shutdownNow();
  }
}
