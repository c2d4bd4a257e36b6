package io.millrace.http;

import io.millrace.http.PendingWait.ClientGoneException;
import io.millrace.http.Route.NonBlockingHandler;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.http.message.ResponseEncoder;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles every request: finds the route, checks access, calls the handler, encodes the response,
 * and records the request. Route and access are determined once, as soon as the head is complete.
 * Thread-safe.
 */
final class Dispatcher {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private final AccessCheck access;
  private final Routes routes;
  private final ErrorResponses errorResponses;
  private final AuditTrail audit;
  private final InFlight inFlight;
  private final long slowNanos;

  /**
   * A dispatcher.
   *
   * @param slow a request that takes longer is logged
   */
  Dispatcher(
      AccessCheck access,
      Routes routes,
      ErrorResponses errorResponses,
      AuditTrail audit,
      InFlight inFlight,
      Duration slow) {
    this.access = access;
    this.routes = routes;
    this.errorResponses = errorResponses;
    this.audit = audit;
    this.inFlight = inFlight;
    this.slowNanos = slow.toNanos();
  }

  InFlight inFlight() {
    return inFlight;
  }

  /**
   * Finds the route and checks access, unless that was done before. A refusal is kept: the thread
   * that answers it does not check again.
   *
   * @param mayBlock false on an event loop
   * @return null if the check has to be made on a thread
   * @throws HttpProblem 401, 403 or 429 if the request is not let in, 400 if it has an unknown
   *     query parameter and the route is strict
   */
  private Routes.@Nullable Match admit(Request request, Connection connection, boolean mayBlock) {
    if (request.isAdmitted()) {
      return request.match();
    }
    HttpProblem refusal = request.refusal();
    if (refusal != null) {
      throw refusal;
    }
    try {
      return check(request, connection, mayBlock);
    } catch (HttpProblem problem) {
      request.refusal(problem);
      throw problem;
    }
  }

  private Routes.@Nullable Match check(Request request, Connection connection, boolean mayBlock) {
    Head head = request.head();
    Routes.Match match = routes.match(head.method(), request.routed());
    Route route = match.route();
    request.route(route);
    AccessCheck.Source source = request.source();
    if (source == null) {
      source = access.sourceOf(connection.peer(), head);
      request.source(source);
    }
    AccessCheck.Attempt attempt =
        new AccessCheck.Attempt(
            route, head.host(), head, source, connection.transport().isSecure(), mayBlock);
    request.attempt(attempt);
    Caller caller = access.check(attempt);
    if (caller == null) {
      return null;
    }
    // From here on the request counts for the route in the metrics, since the caller is known.
    request.match(match);
    request.identify(caller);
    route.check(caller);
    if (caller.isKnown()) {
      connection.activity().authenticated();
    }
    if (route.parameters().strict()) {
      Query.parse(head.query()).checkNames(route.parameters().names());
    }
    request.admit();
    return match;
  }

  /**
   * Whether an event loop may answer a plain request, of which only the head has arrived. False for
   * a request that is not let in: a thread answers it without waiting for the body.
   */
  boolean isNonBlocking(Request request, Connection connection) {
    try {
      Routes.Match match = admit(request, connection, false);
      return match != null && match.route().nonBlocking() != null;
    } catch (RuntimeException _) {
      // The thread answers it.
      return false;
    }
  }

  /**
   * Starts handling a plain request on an event loop. If the result is not null, {@link #end} must
   * be called.
   *
   * @param body the complete body
   * @return null if nothing was done and the request needs a thread
   */
  @Nullable AsyncResponse begin(
      Request request, Connection connection, byte[] body, LoopTick tick) {
    if (!inFlight.enter()) {
      return null;
    }
    AsyncResponse response = null;
    try {
      Routes.Match match = admit(request, connection, false);
      NonBlockingHandler handler = match == null ? null : match.route().nonBlocking();
      if (handler != null) {
        response = handler.begin(request.withBody(body), tick);
      }
    } catch (IOException | RuntimeException e) {
      // A thread tries again and answers the error, unless a command may have been submitted.
      response = request.hasSubmitted() ? AsyncResponse.now(errorResponses.of(e, request)) : null;
    } catch (Error e) {
      response = AsyncResponse.now(errorResponses.of(e, request));
    } finally {
      if (response == null) {
        inFlight.leave();
      }
    }
    return response;
  }

  /** Encodes a completed response, into {@code room} if it fits, and notes its status. */
  ByteBuffer encode(Request request, AsyncResponse completed, ByteBuffer room) {
    Response.Whole response = completed(request, completed);
    request.status(response.status());
    return ResponseEncoder.encode(response, room);
  }

  /** Determines the response, and records what was changed, even if the client has gone. */
  Response.Whole completed(Request request, AsyncResponse completed) {
    Response.Whole response;
    try {
      response = completed.response();
    } catch (RuntimeException | Error e) {
      response = errorResponses.of(e, request);
    }
    audit(request, response.status(), false);
    return response;
  }

  /**
   * Ends a request that was begun, once its response has been written or cannot be written any
   * more. The request is recorded first, so that a stop, which waits for the end of requests, finds
   * a complete log.
   */
  void end(Request request) {
    try {
      record(request);
    } finally {
      inFlight.leave();
    }
  }

  /**
   * Encodes the refusal of a request that cannot be parsed; it is the last response of a
   * connection.
   */
  ByteBuffer refuse(HttpProblem problem) {
    routes.unmatched().record(problem.status(), 0);
    LOG.debug("a request is refused: {} {}", problem.status(), problem.message());
    return ResponseEncoder.last(ErrorForm.PLAIN.response(problem));
  }

  /**
   * Handles a request on its own thread.
   *
   * @param entered whether it has been begun and must be ended; otherwise the server is stopping
   */
  void serve(RequestThread thread, boolean entered) throws IOException, InterruptedException {
    Request request = thread.request();
    Response response;
    boolean upgrades = false;
    try {
      response = entered ? answer(thread) : stopping();
      audit(request, response.status(), true);
      upgrades = response instanceof Response.Upgraded;
      if (!upgrades) {
        thread.write(response, entered);
      }
      request.status(response.status());
    } catch (ClientGoneException e) {
      LOG.trace("a client has disconnected", e);
      return;
    } finally {
      request.releaseMemory();
      if (entered && !upgrades) {
        thread.connection().servedBy(null);
        end(request);
      } else {
        record(request);
      }
    }
    if (response instanceof Response.Upgraded upgraded) {
      thread.upgrade(upgraded);
    }
  }

  private Response answer(RequestThread thread) throws IOException, InterruptedException {
    try {
      Request request = thread.request();
      Routes.Match match = Objects.requireNonNull(admit(request, thread.connection(), true));
      return ScopedValue.where(Request.CURRENT, request)
          .call(() -> match.route().handler().handle(request));
    } catch (ClientGoneException | InterruptedException e) {
      throw e;
    } catch (Throwable e) {
      RequestBody body = thread.body();
      return switch (body.state()) {
        case MALFORMED ->
            ErrorForm.PLAIN.response(
                HttpProblem.malformed("the body is malformed: " + body.problem()));
        case SLOW -> ErrorForm.PLAIN.response(RequestBody.tooSlow(thread.connection().limits()));
        case DISCONNECTED -> throw new ClientGoneException();
        case OK -> errorResponses.of(e, thread.request());
      };
    }
  }

  AccessCheck access() {
    return access;
  }

  AuditTrail audit() {
    return audit;
  }

  private void audit(Request request, int status, boolean mayBlock) {
    request.answered(status);
    if (request.isAdmitted() ? request.route().action() != null : request.refusal() != null) {
      try {
        audit.answered(request, status, mayBlock);
      } catch (RuntimeException e) {
        LOG.error("the audit log lacks {}, which was answered with {}", request, status, e);
      }
    }
  }

  private static Response stopping() {
    return ErrorForm.PLAIN.response(
        HttpProblem.unavailable("the server is stopping", 1)
            .withHeader(Responses.ROLE_HEADER, "stopping"));
  }

  /** Records a request that has ended in the metrics, and in the log if it failed or was slow. */
  private void record(Request request) {
    long nanos = request.nanos();
    int status = request.status();
    Routes.Match match = request.match();
    (match == null ? routes.unmatched() : match.endpoint()).record(status, nanos);
    routes.refusals().count(status);
    // A full store logs that once; a line for each refusal would fill the disk further.
    if (status >= 500 && status != 503) {
      LOG.warn("{} {} in {} µs", request, status, nanos / 1000);
    } else if (nanos > slowNanos && !request.hasWaited()) {
      LOG.info("slow: {} {} in {} ms", request, status, nanos / 1_000_000);
    } else if (LOG.isDebugEnabled()) {
      LOG.debug("{} {} in {} µs", request, status, nanos / 1000);
    }
  }
}
