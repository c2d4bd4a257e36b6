package io.millrace.server;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.AuditTrail;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.Request;
import io.millrace.http.Routes;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.config.Configuration;
import io.millrace.server.metrics.Metrics;
import io.millrace.server.security.Token;
import io.millrace.store.StandbyStore;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** Tells a client that the server is a standby, so that nothing has been done. */
  private static final String ROLE = "Millrace-Role";

  private final PrometheusMeterRegistry registry = Metrics.registry(Version.text());
  private final HttpServer.Site site;
  private final StandbyReads reads;
  private volatile @Nullable StandbyStore store;
  private volatile String ownAddress = "";

  /**
   * A site of a standby.
   *
   * @param access the usual rules, without principals
   * @param token the server's token; null for none
   * @param ownQueues whether the command interface serves the queues of the store
   */
  StandbySite(
      Configuration configuration,
      @Nullable Token token,
      HttpServer.Endpoint endpoint,
      boolean ownQueues,
      AccessCheck access) {
    this.reads = new StandbyReads(configuration, token, endpoint, ownQueues, this::direct);
    Metrics.role(registry, false);
    ApiRoutes own = ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS);
    own.role(Caller.Role.ANYONE).get("/health", _ -> health(false));
    own.role(Caller.Role.ANYONE).get("/health/leader", _ -> health(true));
    own.get("/metrics", request -> Metrics.scrape(registry, request.header("Accept").orElse("")));
    Routes routes = new Routes(registry, this::direct).addAll(own.routes()).addAll(reads.routes());
    ErrorResponses errors = new ErrorResponses();
    StandbyReads.addErrors(errors);
    this.site = new HttpServer.Site(access, routes, errors, AuditTrail.NONE);
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
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("status", view.problem() == null ? "ok" : "behind");
    response.put("version", Version.text());
    // A store that is shared has no other journal.
    response.put("journaling", "strict");
    response.put("role", "standby");
    if (view.position() != null) {
      response.put("position", view.position().toString());
    }
    if (view.leader() != null) {
      response.put("leader", view.leader());
    }
    if (view.problem() != null) {
      response.put("error", view.problem());
    } else {
      response.put("warnings", List.of());
    }
    return Response.json(
        view.problem() == null && !ofLeader ? 200 : 503, JSON.writeValueAsBytes(response));
  }

  private Response direct(Request request) {
    String leader = view().leader();
    if (leader == null || leader.equals(ownAddress) || !request.target().startsWith("/")) {
      throw unavailable("no server leads the store yet");
    }
    byte[] body =
        JSON.writeValueAsBytes(
            Map.of("error", "this server is a standby; the leader is at " + leader));
    return new Response.Whole(
        307,
        Response.JSON,
        Map.of("Location", leader + request.target(), ROLE, "standby", "Cache-Control", "no-store"),
        body);
  }

  private static HttpProblem unavailable(String why) {
    return HttpProblem.unavailable(why, RETRY_SECONDS).withHeader(ROLE, "standby");
  }

  @Override
  public void close() {
    reads.close();
    registry.close();
  }
}
