package io.millrace.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The path of every request that has a thread: route, access check, handler, answer, record. */
final class Dispatcher implements HttpRouting {
  /** How much of an unwanted body is read after the answer so that the connection can go on. */
  private static final int SKIPPED_BYTES = 64 << 10;

  private final AccessCheck access;
  private final Routes routes;
  private final Failures failures;
  private final InFlight inFlight;
  private final RequestLog log;
  private final ReplyWriter writer = new ReplyWriter();

  Dispatcher(
      AccessCheck access, Routes routes, Failures failures, InFlight inFlight, RequestLog log) {
    this.access = access;
    this.routes = routes;
    this.failures = failures;
    this.inFlight = inFlight;
    this.log = log;
  }

  /** One request on its way. */
  private static final class Exchange {
    final RequestThread thread;
    final RoutingRequest source;
    final RequestLog.Entry entry;
    @Nullable Request request;

    Exchange(RequestThread thread, RoutingRequest source) {
      this.thread = thread;
      this.source = source;
      this.entry = new RequestLog.Entry(source.prologue());
    }
  }

  @Override
  public void route(ConnectionContext context, RoutingRequest source, RoutingResponse response) {
    Exchange exchange = new Exchange((RequestThread) context, source);
    if (reply(exchange, response) instanceof Reply.Upgraded upgraded) {
      exchange.thread.over();
      Upgrade.run(exchange.thread, inFlight, upgraded);
      throw new CloseConnectionException("closed after WebSocket");
    }
  }

  private Reply reply(Exchange exchange, RoutingResponse response) {
    RequestThread thread = exchange.thread;
    boolean entered = inFlight.enter();
    try {
      Reply reply = entered ? answer(exchange) : stopping();
      if (!(reply instanceof Reply.Upgraded)) {
        write(exchange, entered, reply, response);
      }
      exchange.entry.status(reply.status());
      return reply;
    } catch (CloseConnectionException e) {
      thread.over();
      throw e;
    } finally {
      if (exchange.request != null) {
        exchange.request.over();
      }
      if (entered) {
        inFlight.leave();
      }
      log.record(exchange.entry);
    }
  }

  private void write(Exchange exchange, boolean entered, Reply reply, RoutingResponse response) {
    RequestThread thread = exchange.thread;
    boolean keeps = entered && !thread.head().closes() && thread.body().isNearEnd(SKIPPED_BYTES);
    writer.write(exchange.source.prologue().method().text(), reply, response, !keeps);
    thread.answered(keeps && thread.body().skipRest());
  }

  private Reply answer(Exchange exchange) {
    RoutingRequest source = exchange.source;
    String path = source.prologue().uriPath().rawPath();
    try {
      Headers headers = source.headers();
      Routes.Match match = routes.match(source.prologue().method().text(), path);
      Caller caller = admit(access, match, source.authority(), headers, exchange.entry);
      if (caller.isKnown()) {
        exchange.thread.connection().known();
      }
      Request request =
          new Request(
              new Incoming.Streaming(source, exchange.thread),
              exchange.thread,
              new Request.Exchange(
                  exchange.thread.connection().limits(), inFlight, exchange.entry, caller),
              match);
      exchange.request = request;
      return ScopedValue.where(Request.CURRENT, request).call(() -> match.route().handle(request));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("interrupted while answering", e);
    } catch (Throwable e) {
      return failed(exchange, e);
    }
  }

  private Reply failed(Exchange exchange, Throwable failure) {
    if (failure instanceof CloseConnectionException closing) {
      throw closing;
    }
    if (failure instanceof ClientGoneException) {
      throw new CloseConnectionException("the client has gone", failure);
    }
    RequestBody body = exchange.thread.body();
    return switch (body.state()) {
      case MALFORMED ->
          ErrorForm.PLAIN.reply(HttpProblem.malformed("the body is malformed: " + body.mistake()));
      case SLOW -> ErrorForm.PLAIN.reply(Connection.tooSlow(exchange.thread.connection().limits()));
      case CUT -> throw new CloseConnectionException("the client stopped sending", failure);
      case SOUND -> failures.answer(failure, exchange.entry);
    };
  }

  /**
   * The caller of a request, who may use its route. The request counts as one of the route once its
   * caller is known.
   *
   * @throws HttpProblem 401 or 403 to turn it away
   */
  static Caller admit(
      AccessCheck access,
      Routes.Match match,
      String host,
      Headers headers,
      RequestLog.Entry entry) {
    Route route = match.route();
    Caller caller = access.check(route, host, name -> only(headers, name));
    entry.endpoint(match.endpoint());
    if (!caller.may(route.role())) {
      throw new HttpProblem(
          403,
          "%s needs the role %s, which %s does not have"
              .formatted(
                  route.path(), route.role().name().toLowerCase(Locale.ROOT), caller.principal()));
    }
    return caller;
  }

  private static Reply stopping() {
    return ErrorForm.PLAIN.reply(HttpProblem.unavailable("the server is stopping", 1));
  }

  /**
   * The value of a header on which access rests; null where it does not come.
   *
   * @throws HttpProblem 400 where it comes several times, so that no value is passed over
   */
  static @Nullable String only(Headers headers, String name) {
    return only(
        headers,
        switch (name) {
          case AccessCheck.ORIGIN -> HeaderNames.ORIGIN;
          case AccessCheck.AUTHORIZATION -> HeaderNames.AUTHORIZATION;
          default -> HeaderNames.create(name);
        });
  }

  private static @Nullable String only(Headers headers, HeaderName name) {
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
