package io.millrace.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The path of every request: gate, route, handler, answer, record. */
final class Dispatcher implements HttpRouting {
  /** How much of an unwanted body is read so that the client gets to see the answer. */
  private static final long LINGER_BYTES = 4L << 20;

  private final Gate gate;
  private final Routes routes;
  private final Failures failures;
  private final InFlight inFlight;
  private final RequestLog log;
  private final ReplyWriter writer = new ReplyWriter();

  Dispatcher(Gate gate, Routes routes, Failures failures, InFlight inFlight, RequestLog log) {
    this.gate = gate;
    this.routes = routes;
    this.failures = failures;
    this.inFlight = inFlight;
    this.log = log;
  }

  @Override
  public void route(ConnectionContext context, RoutingRequest source, RoutingResponse response) {
    Exchange exchange = new Exchange((Connection) context, source);
    if (reply(exchange, response) instanceof Reply.Upgraded upgraded) {
      Upgrade.run(exchange.connection, inFlight, upgraded);
      throw new CloseConnectionException("closed after WebSocket");
    }
  }

  private Reply reply(Exchange exchange, RoutingResponse response) {
    RoutingRequest source = exchange.source;
    boolean entered = inFlight.enter();
    try {
      Reply reply = entered ? answer(exchange) : stopping();
      if (reply instanceof Reply.Upgraded) {
        exchange.entry.status(reply.status());
        return reply;
      }
      boolean close = !entered || !exchange.drained() || wantsClose(source.headers());
      writer.write(exchange.connection, source.prologue().method().text(), reply, response, close);
      exchange.entry.status(reply.status());
      if (close) {
        throw new CloseConnectionException("closed after the answer");
      }
      exchange.connection.requestEnded();
      return reply;
    } finally {
      if (entered) {
        inFlight.leave();
      }
      if (exchange.request != null && exchange.request.watched()) {
        exchange.entry.waited();
      }
      log.record(exchange.entry);
    }
  }

  /** One request on its way. */
  private static final class Exchange {
    final Connection connection;
    final RoutingRequest source;
    final RequestLog.Entry entry;
    @Nullable Request request;

    /** Whether nothing that follows on the connection can be understood. */
    boolean broken;

    Exchange(Connection connection, RoutingRequest source) {
      this.connection = connection;
      this.source = source;
      this.entry = new RequestLog.Entry(source.prologue());
    }

    /** Reads what the handler left of the body; false when that is too much. */
    boolean drained() {
      if (broken) {
        return false;
      }
      if (!source.content().hasEntity() || source.content().consumed()) {
        return true;
      }
      if (request == null
          && source.headers().contains(HeaderValues.EXPECT_100)
          && !source.continueSent()) {
        return false;
      }
      try {
        InputStream rest = request == null ? source.content().inputStream() : request.bodyStream();
        byte[] buffer = new byte[8192];
        long left = LINGER_BYTES;
        while (left > 0) {
          int read = rest.read(buffer);
          if (read < 0) {
            return true;
          }
          left -= read;
        }
        return false;
      } catch (IOException | RuntimeException e) {
        return false;
      }
    }
  }

  private Reply answer(Exchange exchange) {
    RoutingRequest source = exchange.source;
    String path = source.prologue().uriPath().rawPath();
    try {
      Headers headers = source.headers();
      gate.check(
          path,
          source.authority(),
          only(headers, HeaderNames.ORIGIN),
          only(headers, HeaderNames.AUTHORIZATION),
          name -> only(headers, HeaderNames.create(name)));
      checkFraming(exchange, headers);
      Routes.Match match = routes.match(source.prologue().method().text(), path);
      exchange.entry.endpoint(match.endpoint());
      Request request =
          new Request(new Incoming.Streaming(source), exchange.connection, inFlight, match);
      exchange.request = request;
      return match.endpoint().handler().handle(request);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("interrupted while answering", e);
    } catch (IOException | RuntimeException e) {
      return failed(exchange, e);
    }
  }

  private Reply failed(Exchange exchange, Exception failure) {
    BodyStream.State body =
        exchange.request == null ? BodyStream.State.SOUND : exchange.request.bodyState();
    if (failure instanceof CloseConnectionException closing) {
      throw closing;
    }
    if (body == BodyStream.State.MALFORMED) {
      exchange.broken = true;
      return Problems.reply(HttpProblem.malformed("the body is malformed: not of its coding"));
    }
    if (body == BodyStream.State.CUT || failure instanceof IOException) {
      throw new CloseConnectionException("the client stopped sending", failure);
    }
    return failures.answer(failure, exchange.entry);
  }

  /** What the library lets pass although nobody can tell for sure where the body ends. */
  private static void checkFraming(Exchange exchange, Headers headers) {
    boolean sized = headers.contains(HeaderNames.CONTENT_LENGTH);
    boolean coded = headers.contains(HeaderNames.TRANSFER_ENCODING);
    if (!sized && !coded) {
      return;
    }
    exchange.broken = true;
    if (coded) {
      List<String> codings = headers.get(HeaderNames.TRANSFER_ENCODING).allValues();
      if (codings.size() != 1 || !codings.getFirst().equalsIgnoreCase("chunked")) {
        throw new HttpProblem(501, "only the transfer encoding \"chunked\" is known");
      }
      if (sized) {
        throw HttpProblem.malformed("a request has a length or comes in chunks, not both");
      }
    } else if (headers.get(HeaderNames.CONTENT_LENGTH).valueCount() != 1
        || headers.contentLength().orElse(-1) < 0) {
      throw HttpProblem.malformed("a request has one length, a number from 0");
    }
    exchange.broken = false;
  }

  private static Reply stopping() {
    return Problems.reply(HttpProblem.unavailable("the server is stopping", 1));
  }

  private static boolean wantsClose(Headers headers) {
    return headers.contains(HeaderNames.CONNECTION)
        && headers.get(HeaderNames.CONNECTION).get().equalsIgnoreCase("close");
  }

  /**
   * The value of a header on which access rests; null where it does not come.
   *
   * @throws HttpProblem 400 where it comes several times, so that no value is passed over
   */
  static @Nullable String only(Headers headers, HeaderName name) {
    if (!headers.contains(name)) {
      return null;
    }
    Header header = headers.get(name);
    if (header.valueCount() > 1) {
      throw HttpProblem.malformed("the header " + name.defaultCase() + " comes several times");
    }
    return header.get();
  }

  @Override
  public HttpSecurity security() {
    return HttpSecurity.create();
  }
}
