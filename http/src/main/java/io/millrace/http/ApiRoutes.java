package io.millrace.http;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Route.Handler;
import io.millrace.http.Route.NonBlockingHandler;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
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
  // What the next routes have in common; changed only in a copy that is being made.
  private Route.Parameters parameters = Route.Parameters.NONE;
  private Route.Body body = Route.Body.NONE;
  private Caller.@Nullable Role role;
  private Credentials credentials = Credentials.NONE;
  private ErrorForm errors = ErrorForm.PLAIN;

  private ApiRoutes(List<Route> routes, List<String> roots) {
    this.routes = routes;
    this.roots = roots;
  }

  /** None yet; each is added below every one of these paths, which may be empty. */
  public static ApiRoutes below(String... roots) {
    return new ApiRoutes(new ArrayList<>(), List.of(roots));
  }

  private ApiRoutes with(Consumer<ApiRoutes> change) {
    ApiRoutes copy = new ApiRoutes(routes, roots);
    copy.parameters = parameters;
    copy.body = body;
    copy.role = role;
    copy.credentials = credentials;
    copy.errors = errors;
    change.accept(copy);
    return copy;
  }

  /** For routes that read these parameters of the query, and pass over others. */
  public ApiRoutes query(String... names) {
    return with(copy -> copy.parameters = new Route.Parameters(Set.of(names), false));
  }

  /** For routes that read these parameters of the query, and answer others with 400. */
  public ApiRoutes strictQuery(Set<String> names) {
    return with(copy -> copy.parameters = new Route.Parameters(names, true));
  }

  /** For routes that read such a body. */
  public ApiRoutes body(Route.Body read) {
    return with(copy -> copy.body = read);
  }

  /** For routes that need this role. */
  public ApiRoutes role(Caller.Role needed) {
    return with(copy -> copy.role = needed);
  }

  /** For routes that take these credentials beside the server's token. */
  public ApiRoutes credentials(Credentials taken) {
    return with(copy -> copy.credentials = taken);
  }

  /** For routes whose errors look like this. */
  public ApiRoutes errors(ErrorForm form) {
    return with(copy -> copy.errors = form);
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
    Caller.Role needed = role;
    if (needed == null) {
      needed = method == HttpMethod.GET ? Caller.Role.VIEWER : Caller.Role.SUBMITTER;
    }
    for (String root : roots) {
      routes.add(
          new Route(
              method,
              root + path,
              parameters,
              body,
              needed,
              credentials,
              errors,
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
