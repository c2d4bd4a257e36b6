package io.millrace.server;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.AuditTrail;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.Routes;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.audit.ShardAudits;
import io.millrace.server.config.Configuration;
import io.millrace.server.metrics.Metrics;
import io.millrace.server.security.Access;
import io.millrace.server.security.ProxySettings;
import io.millrace.server.security.Token;
import io.millrace.server.shards.ShardRoutes;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.StandbyStore;
import io.millrace.wire.Placement;
import io.millrace.wire.Responses;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a server answers while another one leads the store: its health and figures, and {@linkplain
 * StandbyReads reads} whose callers accept an answer of some age. It directs every other request to
 * the leader, without a check of credentials. Thread-safe.
 */
final class StandbySite implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int RETRY_SECONDS = 1;

  /** How often a request looks for another leader while nobody leads. */
  private static final Duration LOOK_INTERVAL = Duration.ofMillis(50);

  /** How many times it does so, so that it waits for a second. */
  private static final int LOOKS = 20;

  private final PrometheusMeterRegistry registry = Metrics.registry(Version.text());
  private final HttpServer.Site site;
  private final StandbyReads reads;
  private final @Nullable ShardedStore shards;
  private final @Nullable ShardAudits audits;
  private volatile @Nullable StandbyStore store;
  private volatile String ownAddress = "";

  /**
   * A site of a standby.
   *
   * @param token the server's token; null for none
   * @param ownQueues whether the command interface serves the queues of the store
   * @param audits records requests to a store with shards, all of which it serves wherever they are
   *     led; null if the store has none
   */
  StandbySite(
      Configuration configuration,
      @Nullable Token token,
      HttpServer.Endpoint endpoint,
      boolean ownQueues,
      @Nullable ShardAudits audits) {
    ShardedStore shards = audits == null ? null : audits.shards();
    this.reads =
        new StandbyReads(configuration, token, endpoint, shards == null, ownQueues, this::direct);
    this.shards = shards;
    this.audits = audits;
    Metrics.role(registry, false);
    ApiRoutes own = ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS);
    own.role(Caller.Role.ANYONE).get("/health", _ -> health(false));
    own.role(Caller.Role.ANYONE).get("/health/leader", _ -> health(true));
    own.get("/metrics", request -> Metrics.scrape(registry, request.header("Accept").orElse("")));
    Routes routes = new Routes(registry, this::direct).addAll(own.routes()).addAll(reads.routes());
    if (shards != null && audits != null) {
      shards.measure(registry);
      audits.measure(registry);
      int maxOperations = configuration.get(StoreSettings.SECTION).options().limits().operations();
      routes.addAll(ShardRoutes.of(shards));
      routes.addAll(
          StorePart.routes(shards, maxOperations).stream()
              .map(route -> StaleReads.atLeader(route, shards.shard(Placement.HOME)))
              .toList());
    }
    ErrorResponses errors = new ErrorResponses();
    StandbyReads.addErrors(errors, shards != null);
    this.site =
        new HttpServer.Site(
            access(configuration, token, endpoint, shards),
            routes,
            errors,
            audits == null ? AuditTrail.NONE : audits);
  }

  private static AccessCheck access(
      Configuration configuration,
      @Nullable Token token,
      HttpServer.Endpoint endpoint,
      @Nullable ShardedStore shards) {
    ServerSettings settings = configuration.get(ServerSettings.SECTION);
    AccessCheck ofStandby =
        Access.ofStandby(
            endpoint.address(),
            token,
            MillraceServer.requiresCredentials(configuration)
                || !endpoint.address().isLoopbackAddress(),
            new ProxySettings(settings.origins(), settings.proxies(), null));
    return shards == null
        ? ofStandby
        : new FollowedAccess(
            new FollowedPrincipals(
                configuration, token, endpoint, shards.shard(Placement.HOME), new SecureRandom()),
            ofStandby,
            settings.proxies());
  }

  HttpServer.Site site() {
    return site;
  }

  /** Adds the figures of the listener, whose clients reach this server at an address. */
  void listensAt(HttpServer listener, String address) {
    ownAddress = address;
    listener.measure(registry);
  }

  /** Sets the store that follows the leader. */
  void follows(StandbyStore standby) {
    store = standby;
    reads.follows(standby);
  }

  private StandbyStore.View view() {
    StandbyStore current = store;
    return current == null ? new StandbyStore.View(null, null, null) : current.view();
  }

  /** Its health; 503 if the caller asks for a leader. */
  private Response health(boolean ofLeader) {
    StandbyStore.View view = view();
    // Until it has read the whole store once, it cannot take over at once.
    boolean follows = view.problem() == null && view.position() != null;
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("status", follows ? "ok" : "behind");
    response.put("version", Version.text());
    // A store that is shared has no other journal.
    response.put("journaling", "strict");
    response.put("role", "standby");
    if (view.position() != null) {
      response.put("position", view.position().toString());
      if (view.leader() != null) {
        response.put("leader", view.leader());
      }
    }
    if (shards != null) {
      response.put("shards", shards.overview());
    }
    if (follows) {
      response.put("warnings", warnings());
    } else {
      response.put(
          "error",
          view.problem() != null ? view.problem() : "the store has not been read to its end yet");
    }
    return Response.json(follows && !ofLeader ? 200 : 503, JSON.writeValueAsBytes(response));
  }

  private List<String> warnings() {
    return shards == null || audits == null
        ? List.of()
        : Stream.of(shards.warnings(), audits.warnings()).flatMap(List::stream).toList();
  }

  private Response direct(Request request) throws InterruptedException {
    String leader = request.target().startsWith("/") ? awaitLeader(request) : null;
    if (leader == null) {
      throw unavailable("no server leads the store yet");
    }
    byte[] body =
        JSON.writeValueAsBytes(
            Map.of("error", "this server is a standby; the leader is at " + leader));
    return new Response.Whole(
        307,
        Response.JSON,
        Map.of(
            "Location",
            leader + request.target(),
            Responses.ROLE_HEADER,
            "standby",
            "Cache-Control",
            "no-store"),
        body);
  }

  /**
   * The address of the leader. If nobody leads, waits for a short time: a takeover is under way.
   *
   * @return null if nobody leads by then
   */
  private @Nullable String awaitLeader(Request request) throws InterruptedException {
    String leader = otherLeader();
    if (leader != null) {
      return leader;
    }
    CountDownLatch replaced = new CountDownLatch(1);
    boolean isReplaced = false;
    try (PendingWait _ = request.beginWait(_ -> replaced.countDown())) {
      for (int i = 0; i < LOOKS && leader == null && !isReplaced; i++) {
        isReplaced = replaced.await(LOOK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        leader = otherLeader();
      }
    }
    // What has replaced this site answers the next request.
    return leader == null && isReplaced && !ownAddress.isEmpty() ? ownAddress : leader;
  }

  private @Nullable String otherLeader() {
    String leader = view().leader();
    return ownAddress.equals(leader) ? null : leader;
  }

  private static HttpProblem unavailable(String why) {
    return HttpProblem.unavailable(why, RETRY_SECONDS).withHeader(Responses.ROLE_HEADER, "standby");
  }

  @Override
  public void close() {
    reads.close();
    registry.close();
  }
}
