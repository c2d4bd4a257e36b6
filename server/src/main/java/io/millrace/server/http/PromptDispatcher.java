package io.millrace.server.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The path of a plain request on an event loop: route, access check, prompt handler, answer,
 * record. It turns no request away whose head is good: what cannot be served goes to the {@link
 * Dispatcher}, which says why. Safe for use by threads.
 */
final class PromptDispatcher {
  private final AccessCheck access;
  private final Routes routes;
  private final Failures failures;
  private final InFlight inFlight;
  private final RequestLog log;

  PromptDispatcher(
      AccessCheck access, Routes routes, Failures failures, InFlight inFlight, RequestLog log) {
    this.access = access;
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

  /** Whether a request may pass of which only the head has come. */
  boolean admits(PlainHead head, Connection connection) {
    try {
      var _ =
          admit(head.prologue(), head.headers(), connection, new RequestLog.Entry(head.prologue()));
      return true;
    } catch (RuntimeException _) {
      // The dispatcher answers it.
      return false;
    }
  }

  /** A request that may pass. */
  private record Admitted(Routes.Match match, Caller caller) {}

  private Admitted admit(
      HttpPrologue prologue, Headers headers, Connection connection, RequestLog.Entry entry) {
    Routes.Match match = routes.match(prologue.method().text(), prologue.uriPath().rawPath());
    String host = headers.get(HeaderNames.HOST).get();
    Caller caller = Dispatcher.admit(access, match, host, headers, entry);
    if (caller.isKnown()) {
      connection.known();
    }
    return new Admitted(match, caller);
  }

  /** Records a request that was refused for what its bytes are. */
  void refused(HttpProblem problem) {
    RequestLog.Entry entry = new RequestLog.Entry(null);
    entry.status(problem.status());
    log.record(entry);
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
    } finally {
      if (!begun) {
        inFlight.leave();
      }
    }
  }

  private @Nullable Later ask(
      PlainRequest source, Connection connection, Round round, RequestLog.Entry entry) {
    try {
      Admitted admitted = admit(source.prologue(), source.headers(), connection, entry);
      Routes.Match match = admitted.match();
      PromptHandler handler = match.route().prompt();
      if (handler == null) {
        return null;
      }
      Request.Exchange exchange =
          new Request.Exchange(connection.limits(), inFlight, entry, admitted.caller());
      return handler.begin(new Request(source, null, exchange, match), round);
    } catch (IOException | RuntimeException e) {
      // Once more by the dispatcher, which says what is wrong; but nothing is submitted twice.
      return entry.hasSubmitted() ? Later.now(failures.answer(e, entry)) : null;
    } catch (Error e) {
      return Later.now(failures.answer(e, entry));
    }
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
    } catch (RuntimeException | Error e) {
      return failures.answer(e, exchange.entry);
    }
  }
}
