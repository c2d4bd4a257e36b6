package io.millrace.server;

import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.AuditTrail;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Response;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.audit.ShardAudits;
import io.millrace.server.config.Configuration;
import io.millrace.server.metrics.Metrics;
import io.millrace.server.shards.ShardRoutes;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.store.StorePart;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.StandbyStore;
import io.millrace.wire.Placement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
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

  private final Metrics.Registry registry = new Metrics.Registry(Version.text(), false);
  private final HttpServer.Site site;
  private final StandbyReads reads;
  private final @Nullable ShardedStore shards;
  private final ShardAudits audits;
  private volatile @Nullable StandbyStore store;
  private final ToLeader toLeader;

  /**
   * A site of a standby.
   *
   * @param shards all shards, which it serves wherever they are led; null if the store has none
   * @param access who is let in
   * @param audits records requests to them
   * @param ownAddress where clients reach this server
   */
  StandbySite(
      Setup setup,
      HttpServer.Endpoint endpoint,
      @Nullable ShardedStore shards,
      AccessCheck access,
      ShardAudits audits,
      Supplier<@Nullable String> ownAddress) {
    Configuration configuration = setup.configuration();
    this.shards = shards;
    this.audits = audits;
    this.toLeader = new ToLeader("the store", null, () -> store, ownAddress);
    this.reads = new StandbyReads(setup, endpoint, shards == null, toLeader);
    registry.observeJvm();
    ApiRoutes own = ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS);
    own.role(Caller.Role.ANYONE).get("/health", _ -> health(false));
    own.role(Caller.Role.ANYONE).get("/health/leader", _ -> health(true));
    own.get("/metrics", request -> Metrics.scrape(registry, request.header("Accept").orElse("")));
    Routes routes = new Routes(registry, toLeader).addAll(own.routes()).addAll(reads.routes());
    if (shards != null) {
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
        new HttpServer.Site(access, routes, errors, shards == null ? AuditTrail.NONE : audits);
  }

  HttpServer.Site site() {
    return site;
  }

  /** Adds the figures of the listener. */
  void measure(HttpServer listener) {
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
    return shards == null
        ? List.of()
        : Stream.of(shards.warnings(), audits.warnings()).flatMap(List::stream).toList();
  }

  @Override
  public void close() {
    reads.close();
    registry.close();
  }
}
