package io.millrace.server;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.AuditTrail;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpServer;
import io.millrace.http.HttpServer.Choice;
import io.millrace.http.Request;
import io.millrace.http.Route.Handler;
import io.millrace.http.Routes;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.jobs.JobsPart;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.queues.QueuesPart;
import io.millrace.server.shards.PageRelay;
import io.millrace.server.shards.RootRoutes;
import io.millrace.server.shards.ShardRequests;
import io.millrace.server.shards.ShardedStore;
import io.millrace.server.store.StorePart;
import io.millrace.wire.Placement;
import io.millrace.wire.ShardPaths;
import io.millrace.wire.ShardPaths.Destination;
import java.net.http.HttpClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The sites of a server whose store has shards. Below {@code /shards/3} are the systems of shard 3:
 * its own if this server leads it, or else a site that directs to its leader. What a store has once
 * is the same there as without that prefix. A request without it goes to the shard of what it
 * names, or to a site that asks all of them. Thread-safe.
 */
final class ShardSites implements HttpServer.Chooser {
  /** What each server answers itself, since it is asked of the server. */
  private static final String HAND_OVER = "/hand-over";

  /** The beginnings of paths of what a store has once. */
  private static final List<String> ONCE = List.of("/access", "/cluster", "/shards");

  private static final Choice HOME = new Choice(name(Placement.HOME), 0);

  /** The name of the site that asks all shards. */
  private static final String TOGETHER = "together";

  /** The name of the site of what is asked of a shard that does not have it. */
  private static final String MISPLACED = "misplaced";

  private final ShardedStore shards;
  private final AccessCheck ofAnyone;
  private final Supplier<@Nullable String> ownAddress;
  private final ShardPaths paths;

  /** The path below which jobs are served too; empty for none. */
  private final String jobsBelow;

  private final ShardRequests requests;
  private final AccessCheck access;
  private final HttpServer.Site together;

  /**
   * The sites of a server.
   *
   * @param servers sends requests to other servers
   * @param access who is let in with the principals of the first shard
   * @param ownAddress where clients reach this server; null if it does not listen
   */
  ShardSites(
      Setup setup,
      HttpServer.Endpoint endpoint,
      HttpClient servers,
      ShardedStore shards,
      AccessCheck access,
      Supplier<@Nullable String> ownAddress) {
    this.shards = shards;
    this.ofAnyone = FollowedAccess.ofAnyone(setup, endpoint);
    this.ownAddress = ownAddress;
    this.paths = new ShardPaths(shards.placement());
    this.jobsBelow = setup.configuration().get(JobsSettings.SECTION).access().prefix();
    this.requests = ShardRequests.of(servers, shards, ownAddress, setup.front());
    this.access = access;
    this.together =
        new HttpServer.Site(
            access,
            new Routes(new SimpleMeterRegistry())
                .addAll(
                    RootRoutes.of(
                        requests,
                        paths,
                        Map.of(
                            "api",
                            JobsPart.clients(setup.configuration().get(JobsSettings.SECTION)),
                            "dci",
                            QueuesPart.clients(setup.token())))),
            errors(),
            AuditTrail.NONE);
  }

  private static ErrorResponses errors() {
    ErrorResponses errors = new ErrorResponses();
    StorePart.addErrors(errors, true);
    return errors;
  }

  /** The name of the site of a shard. */
  static String name(int shard) {
    return Integer.toString(shard);
  }

  /** What the paths of the systems of a shard begin with: empty for the first one. */
  static String path(int shard) {
    return shard == Placement.HOME ? "" : ShardPaths.PREFIX + shard;
  }

  /**
   * All sites of a server that leads nothing yet.
   *
   * @param home that of the first shard, which also serves what is for none
   */
  Map<String, HttpServer.Site> all(HttpServer.Site home) {
    Map<String, HttpServer.Site> sites = new HashMap<>();
    IntStream.range(0, shards.placement().shards())
        .forEach(shard -> sites.put(name(shard), elsewhere(shard)));
    sites.put(name(Placement.HOME), home);
    sites.put(MISPLACED, site(this::refuseMisplaced));
    sites.put(TOGETHER, together);
    return sites;
  }

  /** Directs to the leader of a shard. */
  HttpServer.Site elsewhere(int shard) {
    ToLeader toLeader =
        new ToLeader(
            "shard " + shard,
            shard + "/" + shards.placement().shards(),
            shards.at(shard)::following,
            ownAddress);
    return site(new PageRelay(requests, shard, access, toLeader));
  }

  /** A site that answers every request in one way. */
  private HttpServer.Site site(Handler handler) {
    return new HttpServer.Site(
        ofAnyone,
        new Routes(new SimpleMeterRegistry(), handler),
        new ErrorResponses(),
        AuditTrail.NONE);
  }

  @Override
  public Choice choose(String method, String path, @Nullable String query) {
    if (!path.startsWith(ShardPaths.PREFIX)) {
      return byName(method, path, query);
    }
    int end = path.indexOf('/', ShardPaths.PREFIX.length());
    int shard = end < 0 ? -1 : number(path.substring(ShardPaths.PREFIX.length(), end));
    if (shard < 0 || path.startsWith(HAND_OVER, end)) {
      return HOME;
    }
    String rest = path.substring(end);
    boolean once = ONCE.stream().anyMatch(each -> rest.equals(each) || rest.startsWith(each + "/"));
    if (once) {
      return new Choice(name(Placement.HOME), end);
    }
    boolean misplaced =
        paths.of(method, rest, query) instanceof Destination.One(int other, String name)
            && name != null
            && other != shard;
    return misplaced ? new Choice(MISPLACED, end) : new Choice(name(shard), end);
  }

  /** Refuses a request below a shard that names something of another one. */
  private Response refuseMisplaced(Request request) {
    int end = request.path().indexOf('/', ShardPaths.PREFIX.length());
    String rest = request.path().substring(end);
    if (paths.of(request.method(), rest, null) instanceof Destination.One(int shard, String name)) {
      throw HttpProblem.malformed(
          "'%s' is in shard %d, so not below %s"
              .formatted(name, shard, request.path().substring(0, end)));
    }
    throw HttpProblem.notFound("no such path: " + request.path());
  }

  private Choice byName(String method, String path, @Nullable String query) {
    if (path.startsWith("/store/")) {
      return HOME;
    }
    int skipped = path.startsWith(jobsBelow + "/api/") ? jobsBelow.length() : 0;
    return switch (paths.of(method, path.substring(skipped), query)) {
      case Destination.One(int shard, String _) -> new Choice(name(shard), 0);
      case Destination.Once _ -> HOME;
      case Destination.All _, Destination.ByBody _, Destination.Unknown _ ->
          new Choice(TOGETHER, skipped);
    };
  }

  /** The shard of this number; -1 if there is none. */
  private int number(String text) {
    boolean plain = text.matches("0|[1-9]\\d?");
    int number = plain ? Integer.parseInt(text) : -1;
    return number < shards.placement().shards() ? number : -1;
  }
}
