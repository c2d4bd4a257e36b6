package io.millrace.server;

import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.StandbyStore;
import io.millrace.wire.Responses;
import io.millrace.wire.ShardPaths;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Directs requests to the leader of a store, or of a shard, that this server does not lead.
 * Thread-safe.
 */
final class ToLeader implements Handler {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int RETRY_SECONDS = 1;

  /** How often a request looks for another leader while nobody leads. */
  private static final Duration LOOK_INTERVAL = Duration.ofMillis(50);

  /** How many times it does so, so that it waits for a second. */
  private static final int LOOKS = 20;

  /** How long a request waits for a read of the journal. */
  private static final Duration LONGEST_READ = Duration.ofSeconds(1);

  private final String what;
  private final @Nullable String place;
  private final Supplier<@Nullable StandbyStore> following;
  private final Supplier<@Nullable String> ownAddress;

  /**
   * Directions to a leader.
   *
   * @param what the leader leads, for people
   * @param place the number of the shard, a slash, and the number of shards, so that clients
   *     remember who leads it; null if it is not for a shard alone
   * @param following what follows the leader; null for nothing at the moment
   * @param ownAddress where clients reach this server; null if it does not listen
   */
  ToLeader(
      String what,
      @Nullable String place,
      Supplier<@Nullable StandbyStore> following,
      Supplier<@Nullable String> ownAddress) {
    this.what = what;
    this.place = place;
    this.following = following;
    this.ownAddress = ownAddress;
  }

  @Override
  public Response handle(Request request) throws InterruptedException {
    String found = request.target().startsWith("/") ? await(request) : null;
    if (found == null) {
      throw HttpProblem.unavailable("no server leads " + what + " yet", RETRY_SECONDS)
          .withHeader(Responses.ROLE_HEADER, "standby");
    }
    byte[] body =
        JSON.writeValueAsBytes(
            Map.of("error", "this server is a standby; the leader is at " + found));
    Map<String, String> headers = new HashMap<>();
    headers.put("Location", found + request.target());
    headers.put(Responses.ROLE_HEADER, "standby");
    headers.put("Cache-Control", "no-store");
    if (place != null && !request.path().startsWith(ShardPaths.PREFIX)) {
      headers.put(Responses.SHARD_HEADER, place);
    }
    return new Response.Whole(307, Response.JSON, headers, body);
  }

  /**
   * The address of the leader, as the journal names it after the request has come: a client that a
   * leader has refused, since it ends, must not be sent back to it. If nobody leads, waits for a
   * short time: a takeover is under way.
   *
   * @return null if nobody leads by then
   */
  private @Nullable String await(Request request) throws InterruptedException {
    StandbyStore store = following.get();
    if (store != null) {
      look(store);
    }
    String found = other();
    if (found != null) {
      return found;
    }
    CountDownLatch replaced = new CountDownLatch(1);
    boolean isReplaced = false;
    try (PendingWait _ = request.beginWait(_ -> replaced.countDown())) {
      for (int i = 0; i < LOOKS && found == null && !isReplaced; i++) {
        isReplaced = replaced.await(LOOK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        found = other();
      }
    }
    // What has replaced the site answers the next request.
    return found == null && isReplaced ? ownAddress.get() : found;
  }

  /** Has the journal read; if that takes long, what it said last counts. */
  private static void look(StandbyStore store) throws InterruptedException {
    try {
      store.refreshed().get(LONGEST_READ.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException _) {
      // It leads by now, or cannot read.
    }
  }

  private @Nullable String other() {
    StandbyStore store = following.get();
    String found = store == null ? null : store.view().leader();
    return found == null || found.equals(ownAddress.get()) ? null : found;
  }
}
