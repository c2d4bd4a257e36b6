package io.millrace.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.RoutingResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes answers to the connection. Safe for use by threads. */
final class ReplyWriter {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");
  private static final byte[] EMPTY = new byte[0];
  private static final Header JSON =
      HeaderValues.createCached(HeaderNames.CONTENT_TYPE, Reply.JSON);

  /**
   * Writes the answer.
   *
   * @param close whether the connection is closed afterwards
   * @throws CloseConnectionException when it cannot be written as a whole
   */
  void write(String method, Reply reply, RoutingResponse response, boolean close) {
    response.status(Status.create(reply.status()));
    String type = reply.type();
    if (type != null) {
      response.header(
          type.equals(Reply.JSON) ? JSON : HeaderValues.create(HeaderNames.CONTENT_TYPE, type));
    }
    if (!reply.headers().isEmpty()) {
      reply
          .headers()
          .forEach((name, value) ->
              response.header(HeaderValues.create(HeaderNames.create(name), value)));
    }
    if (close) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    boolean head = method.equals("HEAD");
    switch (reply) {
      case Reply.Whole whole -> {
        if (head && whole.body().length > 0) {
          response.headers().contentLength(whole.body().length);
        }
        response.send(head ? EMPTY : whole.body());
      }
      case Reply.Streamed streamed -> stream(streamed, head, response);
      case Reply.Upgraded _ -> throw new IllegalArgumentException("this is no answer of HTTP");
    }
  }

  private static void stream(Reply.Streamed reply, boolean head, RoutingResponse response) {
    if (reply.lengthBytes() >= 0) {
      response.headers().contentLength(reply.lengthBytes());
    }
    if (head) {
      response.send(EMPTY);
      return;
    }
    try (OutputStream target = response.outputStream()) {
      reply.body().writeTo(target);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("interrupted within an answer", e);
    } catch (IOException | UncheckedIOException e) {
      throw new CloseConnectionException("the client went away within an answer", e);
    } catch (CloseConnectionException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      if (!(e.getCause() instanceof IOException)) {
        LOG.error("an answer broke off", e);
      }
      throw new CloseConnectionException("an answer broke off", e);
    }
    response.commit();
  }
}
