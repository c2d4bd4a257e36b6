package io.millrace.http;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Route.Handler;
import io.millrace.http.Route.NonBlockingHandler;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Collects the routes of one API, which share paths, credentials and error form. {@code query},
 * {@code body}, {@code role} and the like give a view that adds its routes to the same list, so a
 * route reads as one line:
 *
 * <pre>{@code
 * api.query("limit", "after").get("/jobs", this::list);
 * api.role(Role.OPERATOR).post("/jobs/{key}/cancel", this::cancel);
 * }</pre>
 *
 * <p>Unless it says otherwise, a GET needs the role viewer and every other method the role
 * submitter. For use by one thread, before the server starts.
 */
public final class ApiRoutes {
  private final List<Route> routes;
  private final List<String> roots;
  private final Settings settings;

  /** What the next routes have in common. */
  private record Settings(
      Route.Parameters parameters,
      Route.Body body,
      Caller.@Nullable Role role,
      Credentials credentials,
      ErrorForm errors) {}

  private ApiRoutes(List<Route> routes, List<String> roots, Settings settings) {
    this.routes = routes;
    this.roots = roots;
    this.settings = settings;
  }

  /** None yet; each is added below every one of these paths, which may be empty. */
  public static ApiRoutes below(String... roots) {
    return new ApiRoutes(
        new ArrayList<>(),
        List.of(roots),
        new Settings(
            Route.Parameters.NONE, Route.Body.NONE, null, Credentials.NONE, ErrorForm.PLAIN));
  }

  private ApiRoutes with(Settings changed) {
    return new ApiRoutes(routes, roots, changed);
  }

  /** For routes that read these parameters of the query, and pass over others. */
  public ApiRoutes query(String... names) {
    return parameters(new Route.Parameters(Set.of(names), false));
  }

  /** For routes that read these parameters of the query, and answer others with 400. */
  public ApiRoutes strictQuery(Set<String> names) {
    return parameters(new Route.Parameters(names, true));
  }

  private ApiRoutes parameters(Route.Parameters parameters) {
    return with(
        new Settings(
            parameters, settings.body, settings.role, settings.credentials, settings.errors));
  }

  /** For routes that read such a body. */
  public ApiRoutes body(Route.Body body) {
    return with(
        new Settings(
            settings.parameters, body, settings.role, settings.credentials, settings.errors));
  }

  /** For routes that need this role. */
  public ApiRoutes role(Caller.Role role) {
    return with(
        new Settings(
            settings.parameters, settings.body, role, settings.credentials, settings.errors));
  }

  /** For routes that take these credentials beside the server's token. */
  public ApiRoutes credentials(Credentials credentials) {
    return with(
        new Settings(
            settings.parameters, settings.body, settings.role, credentials, settings.errors));
  }

  /** For routes whose errors look like this. */
  public ApiRoutes errors(ErrorForm errors) {
    return with(
        new Settings(
            settings.parameters, settings.body, settings.role, settings.credentials, errors));
  }

  /** Adds a route that reads. */
  public ApiRoutes get(String path, Handler handler) {
    return add(HttpMethod.GET, path, handler, null);
  }

  /** Adds a route that does something. */
  public ApiRoutes post(String path, Handler handler) {
    return add(HttpMethod.POST, path, handler, null);
  }

  /**
   * Adds a route that does something, and answers short requests without a thread of their own.
   *
   * @param nonBlocking answers short requests
   * @param handler answers the others, and those that {@code nonBlocking} leaves to it
   */
  public ApiRoutes post(String path, NonBlockingHandler nonBlocking, Handler handler) {
    return add(HttpMethod.POST, path, handler, nonBlocking);
  }

  /** Adds a route that puts something at the path. */
  public ApiRoutes put(String path, Handler handler) {
    return add(HttpMethod.PUT, path, handler, null);
  }

  /** Adds a route that changes a part of what is at the path. */
  public ApiRoutes patch(String path, Handler handler) {
    return add(HttpMethod.PATCH, path, handler, null);
  }

  /** Adds a route that removes what is at the path. */
  public ApiRoutes delete(String path, Handler handler) {
    return add(HttpMethod.DELETE, path, handler, null);
  }

  private ApiRoutes add(
      HttpMethod method, String path, Handler handler, @Nullable NonBlockingHandler nonBlocking) {
    Caller.Role role = settings.role;
    if (role == null) {
      role = method == HttpMethod.GET ? Caller.Role.VIEWER : Caller.Role.SUBMITTER;
    }
    for (String root : roots) {
      routes.add(
          new Route(
              method,
              root + path,
              settings.parameters,
              settings.body,
              role,
              settings.credentials,
              settings.errors,
              handler,
              nonBlocking));
    }
    return this;
  }

  /** All that were added so far, in order. */
  public List<Route> routes() {
    return List.copyOf(routes);
  }
}
