package io.millrace.server.shards;

import io.millrace.http.Request;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.shards.ShardRequests.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes requests of pages in a browser on to the leader of a shard that this server does not lead,
 * with the credentials of the caller: a page may only ask the server that it came from, so it
 * cannot follow to another one. Requests of all others are directed there. Thread-safe.
 */
public final class PageRelay implements Handler {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final byte[] NO_BODY = new byte[0];

  private final ShardRequests shards;
  private final int shard;
  private final Handler direct;

  /**
   * The requests for one shard.
   *
   * @param own the address of this server; null if it does not listen
   * @param open whether callers need no credentials
   * @param direct directs what is not of a page
   */
  public PageRelay(
      ShardedStore all, Supplier<@Nullable String> own, boolean open, int shard, Handler direct) {
    this.shards = ShardRequests.of(all, own, open);
    this.shard = shard;
    this.direct = direct;
  }

  @Override
  public Response handle(Request request) throws IOException, InterruptedException {
    HttpMethod method = HttpMethod.named(request.method());
    if (method == null || !isOfPage(request)) {
      return direct.handle(request);
    }
    String below = "/shards/" + shard;
    String target = request.target();
    target = target.startsWith(below + "/") ? target.substring(below.length()) : target;
    ShardRequests.Round round = shards.begin(request, PATIENCE);
    if (method == HttpMethod.GET) {
      return round.relayed(shard, target);
    }
    byte[] body = request.hasBody() ? request.body() : NO_BODY;
    return switch (round.some(List.of(shard), method, target, body).getFirst()) {
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
