package io.millrace.cluster.documents.elastic;

import io.millrace.work.TrustedCertificates;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Sends requests to the engine. Each is sent once and ends within the timeout. Thread-safe. */
final class ElasticClient implements AutoCloseable {
  private final ElasticOptions options;
  private final String base;
  private final HttpClient client;
  private volatile boolean closed;

  ElasticClient(ElasticOptions options) {
    this.options = options;
    String address = options.server().toString();
    base = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(options.timeout())
            .followRedirects(HttpClient.Redirect.NEVER);
    if (options.certificates() != null) {
      builder.sslContext(TrustedCertificates.context(options.certificates()));
    }
    client = builder.build();
  }

  /** A request failed before it was sent; the engine cannot have seen it. */
  static final class NotSentException extends IOException {
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
  HttpResponse<byte[]> send(String method, String path, @Nullable String json) throws IOException {
    if (closed) {
      throw new NotSentException("the documents are closed", null);
    }
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      answer =
          client.sendAsync(request(method, path, json), HttpResponse.BodyHandlers.ofByteArray());
    } catch (RuntimeException e) {
      throw new NotSentException("cannot send a request to " + base + ": " + e, e);
    }
    try {
      return answer.get(options.timeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw failed(e);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new IOException("no answer from " + base + " within " + options.timeout(), e);
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
    if (options.credentials() != null) {
      request.header("Authorization", options.credentials().header());
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

  /** The maximum duration of a request. */
  Duration timeout() {
    return options.timeout();
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
