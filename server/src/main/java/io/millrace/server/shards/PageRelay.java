package io.millrace.server.shards;

import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.shards.ShardRequests.Outcome;
import io.millrace.wire.ShardPaths;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;

/**
 * Passes requests of pages in a browser on to the leader of a shard that this server does not lead,
 * with the credentials of the caller: a page may only ask the server that it came from, so it
 * cannot follow to another one. Requests of all others are directed there. Thread-safe.
 */
public final class PageRelay implements Handler {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final byte[] NO_BODY = new byte[0];

  /** What a page needs at least; the shard checks the rest. */
  private static final Route PAGE =
      ApiRoutes.below("/")
          .errors(ErrorForm.PROBLEM_DETAILS)
          .limitable()
          .get("", _ -> Response.json(NO_BODY))
          .routes()
          .getFirst();

  private final ShardRequests shards;
  private final int shard;
  private final AccessCheck access;
  private final Handler direct;

  /**
   * The requests for one shard.
   *
   * @param access checks the callers whose requests are passed on
   * @param direct directs what is not of a page
   */
  public PageRelay(ShardRequests shards, int shard, AccessCheck access, Handler direct) {
    this.shards = shards;
    this.shard = shard;
    this.access = access;
    this.direct = direct;
  }

  @Override
  public Response handle(Request request) throws IOException, InterruptedException {
    HttpMethod method = HttpMethod.named(request.method());
    if (method == null || !isOfPage(request)) {
      return direct.handle(request);
    }
    // Checked here too: to the leader, a request without valid credentials comes from a server.
    Caller caller = Objects.requireNonNull(access.check(request.attempt().at(PAGE)));
    PAGE.check(caller);
    request.identify(caller);
    String below = ShardPaths.PREFIX + shard;
    String target = request.target();
    target = target.startsWith(below + "/") ? target.substring(below.length()) : target;
    ShardRequests.Round round = shards.begin(request, PATIENCE);
    if (method == HttpMethod.GET) {
      return round.relayed(shard, target);
    }
    byte[] body = request.hasBody() ? request.body() : NO_BODY;
    return switch (round.one(shard, method, target, body, false)) {
      case Outcome.Answer answer -> answer.passedOn();
      case Outcome.Failure(HttpProblem problem, boolean _) -> throw problem;
    };
  }

  private static boolean isOfPage(Request request) {
    return request.header("Cookie").isPresent()
        || request.header(Headers.ORIGIN).isPresent()
        || request.header("Sec-Fetch-Mode").filter(mode -> !mode.equals("navigate")).isPresent();
  }
}
