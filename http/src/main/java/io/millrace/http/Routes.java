package io.millrace.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a server, found by method and path. A path is split at its slashes before it is
 * decoded, so a parameter may contain slashes as {@code %2F}. If both a literal segment and a
 * parameter match, the literal segment is taken.
 *
 * <p>Routes are added by one thread before the server starts; after that, thread-safe.
 */
public final class Routes {
  private static final int MAX_SEGMENTS = 64;

  private final Segment root = new Segment();
  private final List<Route> all = new ArrayList<>();
  private final MeterRegistry registry;
  private final Endpoint unmatched;
  private final Refusals refusals;
  private final @Nullable Handler others;

  /** No routes yet. The metrics of those that are added go to {@code registry}. */
  public Routes(MeterRegistry registry) {
    this(registry, null);
  }

  /**
   * The same for a server that answers all other requests in one way.
   *
   * @param others answers every request that matches no route, whoever sends it; null for the usual
   *     errors
   */
  public Routes(MeterRegistry registry, @Nullable Handler others) {
    this.registry = registry;
    this.others = others;
    this.refusals = new Refusals(registry);
    this.unmatched =
        Endpoint.unmatched(
            fixed(
                ErrorForm.PROBLEM_DETAILS,
                request -> {
                  throw HttpProblem.notFound("no such path: " + request.path());
                }),
            registry);
  }

  /** A node of the tree of paths. */
  private static final class Segment {
    final Map<String, Segment> literals = new HashMap<>();
    final Map<HttpMethod, Endpoint> endpoints = new EnumMap<>(HttpMethod.class);
    @Nullable Segment parameter;

    /** Whether a route at or below it has errors of a form of its own. */
    boolean ownErrors;
  }

  /**
   * The route of a request.
   *
   * @param endpoint the metrics of the route
   * @param route the route; a placeholder with an error as its response if none matches
   * @param parameters the decoded path parameters, in order
   */
  record Match(Endpoint endpoint, Route route, List<String> parameters) {}

  /**
   * Adds routes.
   *
   * @throws IllegalArgumentException if there is already a route with the same method and path
   */
  public Routes addAll(List<Route> routes) {
    routes.forEach(this::add);
    return this;
  }

  private void add(Route route) {
    Segment place = root;
    boolean ownErrors = !route.errors().equals(ErrorForm.PROBLEM_DETAILS);
    for (String part : route.path().substring(1).split("/", -1)) {
      if (part.startsWith("{")) {
        if (place.parameter == null) {
          place.parameter = new Segment();
        }
        place = place.parameter;
      } else {
        place = place.literals.computeIfAbsent(part, _ -> new Segment());
      }
      place.ownErrors |= ownErrors;
    }
    if (place.endpoints.putIfAbsent(route.method(), Endpoint.of(route, registry)) != null) {
      throw new IllegalArgumentException(
          "there is already a route for " + route.method() + " " + route.path());
    }
    all.add(route);
  }

  /** All routes, in the order in which they were added. */
  public List<Route> all() {
    return List.copyOf(all);
  }

  /** Counts requests that were not allowed. */
  Refusals refusals() {
    return refusals;
  }

  /** The metrics of requests that match no route. */
  Endpoint unmatched() {
    return unmatched;
  }

  /**
   * Finds the route of a request. If none matches, the result is a placeholder whose handler gives
   * the response: 400 for a malformed path, 404 for an unknown path, 405 for an unknown method, or
   * the response to OPTIONS. So access can be checked before the caller learns which paths exist.
   * Its errors are problem details, or {@link ErrorForm#PLAIN} if the path begins like the routes
   * of an API with another form.
   *
   * @param path the path as it was sent
   */
  Match match(String method, String path) {
    try {
      return found(method, path);
    } catch (HttpProblem problem) {
      Handler other = others;
      if (other != null) {
        return new Match(
            unmatched,
            ApiRoutes.below("/")
                .errors(ErrorForm.PROBLEM_DETAILS)
                .role(Caller.Role.ANYONE)
                .get("", other)
                .routes()
                .getFirst(),
            List.of());
      }
      ErrorForm form = errorsBelow(path);
      return answeredBy(
          form,
          _ -> {
            throw problem.withForm(form);
          });
    }
  }

  /** The form of the errors of paths without a route that begin like this one. */
  private ErrorForm errorsBelow(String path) {
    int end = path.indexOf('/', 1);
    Segment first =
        path.isEmpty() ? null : root.literals.get(path.substring(1, end < 0 ? path.length() : end));
    return first != null && first.ownErrors ? ErrorForm.PLAIN : ErrorForm.PROBLEM_DETAILS;
  }

  private Match answeredBy(ErrorForm form, Handler handler) {
    return new Match(unmatched, fixed(form, handler), List.of());
  }

  /** A route outside the tree. */
  private static Route fixed(ErrorForm form, Handler handler) {
    return ApiRoutes.below("/").errors(form).limitable().get("", handler).routes().getFirst();
  }

  private Match found(String method, String path) {
    if (!path.startsWith("/")) {
      throw HttpProblem.malformed("the path must begin with a slash: " + path);
    }
    List<String> parameters = new ArrayList<>(2);
    Segment place = root;
    int begin = 1;
    for (int count = 0; begin <= path.length() && count < MAX_SEGMENTS; count++) {
      int end = path.indexOf('/', begin);
      end = end < 0 ? path.length() : end;
      String part = Query.decode(path, begin, end, false);
      Segment next = place.literals.get(part);
      if (next == null) {
        next = place.parameter;
        parameters.add(part);
      }
      if (next == null) {
        throw HttpProblem.notFound("no such path: " + path);
      }
      place = next;
      begin = end + 1;
    }
    if (begin <= path.length() || place.endpoints.isEmpty()) {
      throw HttpProblem.notFound("no such path: " + path);
    }
    return endpoint(place, method, path, parameters);
  }

  private Match endpoint(Segment place, String method, String path, List<String> parameters) {
    HttpMethod known = HttpMethod.named(method);
    if (known == HttpMethod.OPTIONS) {
      return answeredBy(
          ErrorForm.PLAIN,
          _ -> new Response.Whole(204, null, Map.of("Allow", allowed(place)), new byte[0]));
    }
    Endpoint endpoint = known == null ? null : place.endpoints.get(known);
    if (endpoint == null && known == HttpMethod.HEAD) {
      endpoint = place.endpoints.get(HttpMethod.GET);
    }
    if (endpoint == null) {
      String allowed = allowed(place);
      throw new HttpProblem(405, path + " does not support " + method + ", only " + allowed)
          .withHeader("Allow", allowed);
    }
    return new Match(endpoint, endpoint.route(), parameters);
  }

  private static String allowed(Segment place) {
    TreeSet<String> names = new TreeSet<>();
    place.endpoints.keySet().forEach(method -> names.add(method.name()));
    if (place.endpoints.containsKey(HttpMethod.GET)) {
      names.add("HEAD");
    }
    names.add("OPTIONS");
    return String.join(", ", names);
  }

  /** How many requests were not allowed, by status. Thread-safe. */
  static final class Refusals {
    private final Counter unauthorized;
    private final Counter forbidden;
    private final Counter tooMany;

    private Refusals(MeterRegistry registry) {
      this.unauthorized = counter(registry, 401);
      this.forbidden = counter(registry, 403);
      this.tooMany = counter(registry, 429);
    }

    private static Counter counter(MeterRegistry registry, int status) {
      return Counter.builder("millrace.access.refusals")
          .description("Requests that were refused because of who sent them, or how many")
          .tag("status", Integer.toString(status))
          .register(registry);
    }

    void count(int status) {
      switch (status) {
        case 401 -> unauthorized.increment();
        case 403 -> forbidden.increment();
        case 429 -> tooMany.increment();
        default -> {}
      }
    }
  }

  /** A route with the number and duration of its responses by status. Thread-safe. */
  static final class Endpoint {
    private static final int STATUSES = 600;

    private final Route route;
    private final List<String> names;
    private final MeterRegistry registry;
    private final String methodLabel;
    private final String pathLabel;
    private final AtomicReferenceArray<@Nullable Timer> timers =
        new AtomicReferenceArray<>(STATUSES);

    private Endpoint(Route route, MeterRegistry registry, String methodLabel, String pathLabel) {
      this.route = route;
      this.names = route.names();
      this.registry = registry;
      this.methodLabel = methodLabel;
      this.pathLabel = pathLabel;
    }

    /** An endpoint for a route. */
    static Endpoint of(Route route, MeterRegistry registry) {
      return new Endpoint(route, registry, route.method().name(), route.path());
    }

    /** The endpoint of all requests that match no route. */
    static Endpoint unmatched(Route route, MeterRegistry registry) {
      return new Endpoint(route, registry, "any", "(none)");
    }

    Route route() {
      return route;
    }

    /** The names of its path parameters, in order. */
    List<String> names() {
      return names;
    }

    /** Records a response. */
    void record(int status, long nanos) {
      Timer timer = timers.get(status);
      if (timer == null) {
        timer = timer(status);
        timers.set(status, timer);
      }
      timer.record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(int status) {
      return Timer.builder("millrace.http.requests")
          .description("Requests answered, and the time from their head to the end of the response")
          .tag("method", methodLabel)
          .tag("route", pathLabel)
          .tag("status", Integer.toString(status))
          .serviceLevelObjectives(
              Duration.ofNanos(500_000),
              Duration.ofMillis(1),
              Duration.ofMillis(5),
              Duration.ofMillis(10),
              Duration.ofMillis(50),
              Duration.ofMillis(100),
              Duration.ofMillis(500),
              Duration.ofSeconds(1),
              Duration.ofSeconds(10))
          .register(registry);
    }
  }
}
