package io.millrace.server.http;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The paths that are answered. A path is cut at its slashes before it is decoded, so a name may
 * hold slashes as {@code %2F}. A literal segment goes before a parameter.
 *
 * <p>Routes are added by one thread before the server starts.
 */
public final class Routes {
  private static final int MOST_SEGMENTS = 64;

  private final Segment root = new Segment();
  private final MeterRegistry registry;
  private final Endpoint unmatched;

  /** None yet; the figures of those added go to {@code registry}. */
  public Routes(MeterRegistry registry) {
    this.registry = registry;
    this.unmatched =
        new Endpoint(
            "(none)",
            List.of(),
            request -> {
              throw HttpProblem.notFound("nothing is here: " + request.path());
            },
            null,
            new RequestFigures(registry, "any", "(none)"));
  }

  /** A place in the tree of paths. */
  private static final class Segment {
    final Map<String, Segment> literals = new HashMap<>();
    final Map<HttpMethod, Endpoint> endpoints = new EnumMap<>(HttpMethod.class);
    @Nullable Segment parameter;
  }

  /**
   * A route found.
   *
   * @param endpoint what answers
   * @param parameters the decoded path parameters, in order
   */
  record Match(Endpoint endpoint, List<String> parameters) {}

  /**
   * Adds a route.
   *
   * @param pattern segments after slashes; {@code {name}} is a parameter, which may be empty
   * @throws IllegalArgumentException when the route is there already
   */
  public Routes add(HttpMethod method, String pattern, Handler handler) {
    return add(method, pattern, handler, null);
  }

  /**
   * Adds a route whose short requests are answered without a thread of their own.
   *
   * @param pattern segments after slashes; {@code {name}} is a parameter, which may be empty
   * @param handler answers what {@code prompt} leaves to it, and what it is not asked: long
   *     requests, and those that come in pieces or several at once
   * @param prompt answers the others
   * @throws IllegalArgumentException when the route is there already
   */
  public Routes addPrompt(String pattern, PromptHandler prompt, Handler handler) {
    return add(HttpMethod.POST, pattern, handler, prompt);
  }

  private Routes add(
      HttpMethod method, String pattern, Handler handler, @Nullable PromptHandler prompt) {
    List<String> names = new ArrayList<>();
    Segment place = root;
    for (String part : pattern.substring(1).split("/", -1)) {
      if (part.startsWith("{")) {
        names.add(part.substring(1, part.length() - 1));
        if (place.parameter == null) {
          place.parameter = new Segment();
        }
        place = place.parameter;
      } else {
        place = place.literals.computeIfAbsent(part, _ -> new Segment());
      }
    }
    Endpoint endpoint =
        new Endpoint(
            pattern, names, handler, prompt, new RequestFigures(registry, method.name(), pattern));
    if (place.endpoints.putIfAbsent(method, endpoint) != null) {
      throw new IllegalArgumentException("there is a route already: " + method + " " + pattern);
    }
    return this;
  }

  /** What counts the requests that no route answers. */
  Endpoint unmatched() {
    return unmatched;
  }

  /**
   * The route of a request.
   *
   * @param path the path as it was sent
   * @throws HttpProblem 400 for one that is no path, 404 for an unknown one, 405 for a method that
   *     it does not have
   */
  Match match(String method, String path) {
    if (!path.startsWith("/")) {
      throw HttpProblem.malformed("a path begins with a slash: " + path);
    }
    List<String> parameters = new ArrayList<>(2);
    Segment place = root;
    int begin = 1;
    for (int count = 0; begin <= path.length() && count < MOST_SEGMENTS; count++) {
      int end = path.indexOf('/', begin);
      end = end < 0 ? path.length() : end;
      String part = PercentText.decode(path, begin, end, false);
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
    return new Match(endpoint(place, method, path), parameters);
  }

  private Endpoint endpoint(Segment place, String method, String path) {
    HttpMethod known = HttpMethod.named(method);
    if (known == HttpMethod.OPTIONS && !place.endpoints.containsKey(known)) {
      return new Endpoint(
          unmatched.route(),
          List.of(),
          _ -> new Reply.Whole(204, null, Map.of("Allow", allowed(place)), new byte[0]),
          null,
          unmatched.figures());
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
    return endpoint;
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
