package io.millrace.http;

import io.millrace.http.PendingWait.ClientGoneException;
import io.millrace.http.Route.NonBlockingHandler;
import io.millrace.http.message.AsyncReply;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import io.millrace.http.message.ReplyText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The path of every request: access, route, handler, answer, record. Access is checked and the
 * route is found once, as soon as the head is complete. Safe for use by threads.
 */
final class Dispatcher {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private final AccessCheck access;
  private final Routes routes;
  private final ErrorReplies errorReplies;
  private final InFlight inFlight;
  private final long slowNanos;

  /**
   * A dispatcher.
   *
   * @param slow from which duration on a request is logged
   */
  Dispatcher(
      AccessCheck access,
      Routes routes,
      ErrorReplies errorReplies,
      InFlight inFlight,
      Duration slow) {
    this.access = access;
    this.routes = routes;
    this.errorReplies = errorReplies;
    this.inFlight = inFlight;
    this.slowNanos = slow.toNanos();
  }

  InFlight inFlight() {
    return inFlight;
  }

  /**
   * Checks access and finds the route, unless that was done before.
   *
   * @throws HttpProblem 401 or 403 if the request is turned away, 400 if the route is strict and
   *     does not know a parameter of the query
   */
  private Routes.Match admit(Request request, Connection connection) {
    Routes.Match match = request.match();
    if (match != null && request.isAdmitted()) {
      return match;
    }
    Head head = request.head();
    match = routes.match(head.method(), head.path());
    Route route = match.route();
    Caller caller = access.check(route, head.host(), head);
    // The request counts as one of the route once its caller is known.
    request.match(match);
    if (!caller.may(route.role())) {
      throw new HttpProblem(
          403,
          "%s needs the role %s, which %s does not have"
              .formatted(
                  route.path(), route.role().name().toLowerCase(Locale.ROOT), caller.principal()));
    }
    if (caller.isKnown()) {
      connection.activity().authenticated();
    }
    if (route.parameters().strict()) {
      Query.parse(head.query()).checkNames(route.parameters().names());
    }
    request.caller(caller);
    return match;
  }

  /**
   * Whether an event loop may answer a plain request of which only the head has come. A request
   * that is turned away gets its answer from a thread, which need not wait for the body.
   */
  boolean isNonBlocking(Request request, Connection connection) {
    try {
      return admit(request, connection).route().nonBlocking() != null;
    } catch (RuntimeException _) {
      // The thread meets the same problem, and answers it.
      return false;
    }
  }

  /**
   * Begins to answer a plain request on an event loop.
   *
   * @param body its whole body
   * @return null if nothing was done and the request needs a thread
   */
  @Nullable AsyncReply begin(Request request, Connection connection, byte[] body, LoopTick tick) {
    if (!inFlight.enter()) {
      return null;
    }
    AsyncReply later = null;
    try {
      Routes.Match match = admit(request, connection);
      NonBlockingHandler handler = match.route().nonBlocking();
      if (handler != null) {
        later = handler.begin(request.withBody(body), tick);
      }
    } catch (IOException | RuntimeException e) {
      // Once more by a thread, which says what is wrong; but nothing is submitted twice.
      later = request.hasSubmitted() ? AsyncReply.now(errorReplies.answer(e, request)) : null;
    } catch (Error e) {
      later = AsyncReply.now(errorReplies.answer(e, request));
    } finally {
      if (later == null) {
        inFlight.leave();
      }
    }
    return later;
  }

  /** The answer that was begun, once it is done: in {@code room} if there is enough of it. */
  ByteBuffer answer(Request request, AsyncReply later, ByteBuffer room) {
    Reply.Whole reply;
    try {
      reply = later.reply();
    } catch (RuntimeException | Error e) {
      reply = errorReplies.answer(e, request);
    }
    request.status(reply.status());
    return ReplyText.of(reply, room);
  }

  /**
   * Ends what was begun; its answer is written, or of no use any more. It is recorded first: a stop
   * waits for the end of requests, and what they leave in the log is complete then.
   */
  void end(Request request) {
    try {
      record(request);
    } finally {
      inFlight.leave();
    }
  }

  /** The last answer to a request that was refused for what its bytes are. */
  ByteBuffer refuse(HttpProblem problem) {
    routes.unmatched().record(problem.status(), 0);
    LOG.debug("a request is refused: {} {}", problem.status(), problem.message());
    return ReplyText.last(ErrorForm.PLAIN.reply(problem));
  }

  /** Answers a request on a thread of its own. */
  void serve(RequestThread thread) throws IOException, InterruptedException {
    Request request = thread.request();
    boolean entered = inFlight.enter();
    Reply reply;
    try {
      reply = entered ? answer(thread) : stopping();
      if (!(reply instanceof Reply.Upgraded)) {
        thread.write(reply, entered);
      }
      request.status(reply.status());
    } catch (ClientGoneException e) {
      LOG.trace("a client has gone", e);
      return;
    } finally {
      request.over();
      if (entered) {
        end(request);
      } else {
        record(request);
      }
    }
    if (reply instanceof Reply.Upgraded upgraded) {
      thread.upgrade(upgraded);
    }
  }

  private Reply answer(RequestThread thread) throws IOException, InterruptedException {
    try {
      Request request = thread.request();
      Routes.Match match = admit(request, thread.connection());
      return ScopedValue.where(Request.CURRENT, request)
          .call(() -> match.route().handler().handle(request));
    } catch (ClientGoneException | InterruptedException e) {
      throw e;
    } catch (Throwable e) {
      RequestBody body = thread.body();
      return switch (body.state()) {
        case MALFORMED ->
            ErrorForm.PLAIN.reply(
                HttpProblem.malformed("the body is malformed: " + body.mistake()));
        case SLOW -> ErrorForm.PLAIN.reply(RequestBody.tooSlow(thread.connection().limits()));
        case CUT -> throw new ClientGoneException();
        case SOUND -> errorReplies.answer(e, thread.request());
      };
    }
  }

  private static Reply stopping() {
    return ErrorForm.PLAIN.reply(HttpProblem.unavailable("the server is stopping", 1));
  }

  /** Records a request that has ended: its figures always, a line in the log if it is notable. */
  private void record(Request request) {
    long nanos = request.nanos();
    int status = request.status();
    Routes.Match match = request.match();
    (match == null ? routes.unmatched() : match.endpoint()).record(status, nanos);
    // A store without room says so itself, once; each of its refusals in the log would take more.
    if (status >= 500 && status != 503) {
      LOG.warn("{} {} in {} µs", request, status, nanos / 1000);
    } else if (nanos > slowNanos && !request.hasWaited()) {
      LOG.info("slow: {} {} in {} ms", request, status, nanos / 1_000_000);
    } else if (LOG.isDebugEnabled()) {
      LOG.debug("{} {} in {} µs", request, status, nanos / 1000);
    }
  }
}
