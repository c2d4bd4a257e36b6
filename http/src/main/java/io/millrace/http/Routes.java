package io.millrace.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a server, found by method and path. A path is cut at its slashes before it is
 * decoded, so a name may hold slashes as {@code %2F}. A literal segment goes before a parameter.
 *
 * <p>Routes are added by one thread before the server starts.
 */
public final class Routes {
  private static final int MOST_SEGMENTS = 64;

  private final Segment root = new Segment();
  private final List<Route> all = new ArrayList<>();
  private final MeterRegistry registry;
  private final Endpoint unmatched;

  /** None yet; the figures of those added go to {@code registry}. */
  public Routes(MeterRegistry registry) {
    this.registry = registry;
    this.unmatched =
        Endpoint.unmatched(
            fixed(request -> {
              throw HttpProblem.notFound("nothing is here: " + request.path());
            }),
            registry);
  }

  /** A place in the tree of paths. */
  private static final class Segment {
    final Map<String, Segment> literals = new HashMap<>();
    final Map<HttpMethod, Endpoint> endpoints = new EnumMap<>(HttpMethod.class);
    @Nullable Segment parameter;
  }

  /**
   * What answers a request.
   *
   * @param endpoint counts the answer
   * @param route answers; not that of the endpoint if no route matches
   * @param parameters the decoded path parameters, in order
   */
  record Match(Endpoint endpoint, Route route, List<String> parameters) {}

  /**
   * Adds routes.
   *
   * @throws IllegalArgumentException if one of them is there already
   */
  public Routes addAll(List<Route> routes) {
    routes.forEach(this::add);
    return this;
  }

  private void add(Route route) {
    Segment place = root;
    for (String part : route.path().substring(1).split("/", -1)) {
      if (part.startsWith("{")) {
        if (place.parameter == null) {
          place.parameter = new Segment();
        }
        place = place.parameter;
      } else {
        place = place.literals.computeIfAbsent(part, _ -> new Segment());
      }
    }
    if (place.endpoints.putIfAbsent(route.method(), Endpoint.of(route, registry)) != null) {
      throw new IllegalArgumentException(
          "there is a route already: " + route.method() + " " + route.path());
    }
    all.add(route);
  }

  /** All routes, in the order in which they were added. */
  public List<Route> all() {
    return List.copyOf(all);
  }

  /** What counts the requests that no route answers. */
  Endpoint unmatched() {
    return unmatched;
  }

  /**
   * What answers a request. One that no route matches gets a match too, whose handler says why: 400
   * for a malformed path, 404 for an unknown one, 405 for a method that it does not have, or the
   * answer to OPTIONS. So access is checked before the caller learns which paths exist.
   *
   * @param path the path as it was sent
   */
  Match match(String method, String path) {
    try {
      return found(method, path);
    } catch (HttpProblem problem) {
      return answeredBy(_ -> {
        throw problem;
      });
    }
  }

  private Match answeredBy(Handler handler) {
    return new Match(unmatched, fixed(handler), List.of());
  }

  /** A route that is not in the tree. */
  private static Route fixed(Handler handler) {
    return ApiRoutes.below("/").get("", handler).routes().getFirst();
  }

  private Match found(String method, String path) {
    if (!path.startsWith("/")) {
      throw HttpProblem.malformed("a path begins with a slash: " + path);
    }
    List<String> parameters = new ArrayList<>(2);
    Segment place = root;
    int begin = 1;
    for (int count = 0; begin <= path.length() && count < MOST_SEGMENTS; count++) {
      int end = path.indexOf('/', begin);
      end = end < 0 ? path.length() : end;
      String part = Query.decode(path, begin, end, false);
      Segment next = place.literals.get(part);
      if (next == null) {
        next = place.parameter;
        parameters.add(part);
      }
      if (next == null) {
        throw HttpProblem.notFound("nothing is here: " + path);
      }
      place = next;
      begin = end + 1;
    }
    if (begin <= path.length() || place.endpoints.isEmpty()) {
      throw HttpProblem.notFound("nothing is here: " + path);
    }
    return endpoint(place, method, path, parameters);
  }

  private Match endpoint(Segment place, String method, String path, List<String> parameters) {
    HttpMethod known = HttpMethod.named(method);
    if (known == HttpMethod.OPTIONS) {
      return answeredBy(
          _ -> new Reply.Whole(204, null, Map.of("Allow", allowed(place)), new byte[0]));
    }
    Endpoint endpoint = known == null ? null : place.endpoints.get(known);
    if (endpoint == null && known == HttpMethod.HEAD) {
      endpoint = place.endpoints.get(HttpMethod.GET);
    }
    if (endpoint == null) {
      String allowed = allowed(place);
      throw new HttpProblem(405, path + " does not know " + method + ", only " + allowed)
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
}
