package io.millrace.server.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The path of a plain request on an event loop: gate, route, prompt handler, answer, record. It
 * never turns a request away: what cannot be served goes to the {@link Dispatcher}, which says why.
 * Safe for use by threads.
 */
final class PromptDispatcher {
  private final Gate gate;
  private final Routes routes;
  private final Failures failures;
  private final InFlight inFlight;
  private final RequestLog log;

  PromptDispatcher(Gate gate, Routes routes, Failures failures, InFlight inFlight, RequestLog log) {
    this.gate = gate;
    this.routes = routes;
    this.failures = failures;
    this.inFlight = inFlight;
    this.log = log;
  }

  /** A request that is being answered. */
  static final class Exchange {
    private final RequestLog.Entry entry;
    private final Later later;

    private Exchange(RequestLog.Entry entry, Later later) {
      this.entry = entry;
      this.later = later;
    }

    /** Whether the answer can be given. */
    boolean isDone() {
      return later.isDone();
    }

    /** Runs {@code action} when the answer can be given, on any thread. */
    void whenDone(Runnable action) {
      later.whenDone(action);
    }
  }

  /** Begins to answer; null where nothing was done and the request is not for an event loop. */
  @Nullable Exchange begin(PlainRequest source, Connection connection, Round round) {
    RequestLog.Entry entry = new RequestLog.Entry(source.prologue());
    boolean begun = false;
    if (!inFlight.enter()) {
      return null;
    }
    try {
      Later later = ask(source, connection, round, entry);
      begun = later != null;
      return later == null ? null : new Exchange(entry, later);
    } catch (IOException | RuntimeException _) {
      return null;
    } finally {
      if (!begun) {
        inFlight.leave();
      }
    }
  }

  private @Nullable Later ask(
      PlainRequest source, Connection connection, Round round, RequestLog.Entry entry)
      throws IOException {
    Headers headers = source.headers();
    String path = source.prologue().uriPath().rawPath();
    gate.check(
        path,
        headers.get(HeaderNames.HOST).get(),
        Dispatcher.only(headers, HeaderNames.ORIGIN),
        Dispatcher.only(headers, HeaderNames.AUTHORIZATION),
        name -> Dispatcher.only(headers, HeaderNames.create(name)));
    Routes.Match match = routes.match(source.prologue().method().text(), path);
    PromptHandler handler = match.endpoint().prompt();
    if (handler == null) {
      return null;
    }
    entry.endpoint(match.endpoint());
    return handler.begin(new Request(source, connection, inFlight, match), round);
  }

  /** The answer, once the exchange is done: in {@code room} where it has the place. */
  ByteBuffer answer(Exchange exchange, ByteBuffer room) {
    Reply.Whole reply = reply(exchange);
    exchange.entry.status(reply.status());
    return ReplyText.of(reply, room);
  }

  /** Ends the exchange, its answer having been written or being of no use any more. */
  void end(Exchange exchange) {
    inFlight.leave();
    log.record(exchange.entry);
  }

  private Reply.Whole reply(Exchange exchange) {
    try {
      return exchange.later.reply();
    } catch (RuntimeException e) {
      return failures.answer(e, exchange.entry);
    }
  }
}
