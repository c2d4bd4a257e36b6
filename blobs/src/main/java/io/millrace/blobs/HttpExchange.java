package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request and its answer, with every failure turned into a {@link BlobException}. */
final class HttpExchange implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpBlobStore.class);
  private static final int SHOWN_BYTES = 1024;

  private final HttpClient client;

  HttpExchange(HttpClient client) {
    this.client = client;
  }

  HttpResponse<InputStream> send(HttpRequest request, String what) {
    try {
      return client.send(request, BodyHandlers.ofInputStream());
    } catch (IOException e) {
      throw failed(what, e);
    } catch (InterruptedException e) {
      throw interrupted(what, e);
    }
  }

  /** Sends a body and answers what came back with 200 or 201. */
  HttpResponse<InputStream> upload(HttpRequest request, Digesting source, String what) {
    CompletableFuture<HttpResponse<InputStream>> sending =
        client.sendAsync(request, BodyHandlers.ofInputStream());
    CompletableFuture<HttpResponse<InputStream>> late = new CompletableFuture<>();
    CompletableFuture<HttpResponse<InputStream>> limit =
        source
            .ended()
            .thenCompose(none ->
                late.orTimeout(HttpBlobStore.ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
    HttpResponse<InputStream> answer;
    try {
      answer = sending.applyToEither(limit, first -> first).get();
    } catch (ExecutionException e) {
      sending.cancel(true);
      IOException unread = source.failure();
      if (unread != null) {
        throw new BlobException(what + ": its content could not be read: " + unread, unread);
      }
      throw failed(what, e.getCause() == null ? e : e.getCause());
    } catch (InterruptedException e) {
      sending.cancel(true);
      throw interrupted(what, e);
    } catch (CancellationException e) {
      throw failed(what, e);
    } finally {
      late.cancel(false);
    }
    if (answer.statusCode() != 200 && answer.statusCode() != 201) {
      throw unexpected(answer, what);
    }
    return answer;
  }

  static BlobException unexpected(HttpResponse<InputStream> answer, String what) {
    String body;
    try (InputStream in = answer.body()) {
      body = new String(in.readNBytes(SHOWN_BYTES), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      body = "(its body cannot be read: " + e + ")";
    }
    return new BlobException(
        what + ": " + answer.uri() + " answered " + answer.statusCode() + " " + body);
  }

  /** Gives up what is left of an answer. */
  static void discard(HttpResponse<InputStream> answer) {
    try {
      answer.body().close();
    } catch (IOException e) {
      LOG.debug("closing the answer of {} failed", answer.uri(), e);
    }
  }

  private static BlobException failed(String what, Throwable cause) {
    return new BlobException(what + ": " + cause, cause);
  }

  private static BlobException interrupted(String what, InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new BlobException(what + ": the thread was interrupted", cause);
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
  }
}
