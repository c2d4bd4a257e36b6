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
 * A builder of the routes of one API, which share path prefixes, credentials and error form.
 * Methods such as {@code query}, {@code body} and {@code role} return a builder with one property
 * changed that adds to the same list of routes. So one line declares a route:
 *
 * <pre>{@code
 * api.query("limit", "after").get("/jobs", this::list);
 * api.role(Role.OPERATOR).post("/jobs/{key}/cancel", this::cancel);
 * }</pre>
 *
 * <p>By default, GET needs the role viewer and every other method the role submitter. Not
 * thread-safe; used before the server starts.
 */
public final class ApiRoutes {
  private final List<Route> routes;
  private final List<String> roots;
  // The properties of the next routes; they are changed only while a copy is made.
  private Route.Parameters parameters = Route.Parameters.NONE;
  private Route.Body body = Route.Body.NONE;
  private Caller.@Nullable Role role;
  private boolean limitable;
  private boolean stale;
  private Credentials credentials = Credentials.NONE;
  private ErrorForm errors = ErrorForm.PLAIN;
  private @Nullable String action;

  private ApiRoutes(List<Route> routes, List<String> roots) {
    this.routes = routes;
    this.roots = roots;
  }

  /**
   * A builder without routes.
   *
   * @param roots path prefixes, which may be empty; each route is added below each of them
   */
  public static ApiRoutes below(String... roots) {
    return new ApiRoutes(new ArrayList<>(), List.of(roots));
  }

  private ApiRoutes with(Consumer<ApiRoutes> change) {
    ApiRoutes copy = new ApiRoutes(routes, roots);
    copy.parameters = parameters;
    copy.body = body;
    copy.role = role;
    copy.limitable = limitable;
    copy.stale = stale;
    copy.credentials = credentials;
    copy.errors = errors;
    copy.action = action;
    change.accept(copy);
    return copy;
  }

  /** For routes that read these query parameters and ignore others. The default is none. */
  public ApiRoutes query(String... names) {
    return with(
        copy -> copy.parameters = new Route.Parameters(Set.of(names), false, parameters.fields()));
  }

  /** For routes that read these query parameters and answer others with 400. */
  public ApiRoutes strictQuery(Set<String> names) {
    return with(copy -> copy.parameters = new Route.Parameters(names, true, parameters.fields()));
  }

  /** For routes that read this kind of body. The default is none. */
  public ApiRoutes body(Route.Body kind) {
    return body(kind, Set.of());
  }

  /** For routes that read this kind of body, and these fields of it. */
  public ApiRoutes body(Route.Body kind, Set<String> fields) {
    return with(copy -> {
      copy.body = kind;
      copy.parameters = new Route.Parameters(parameters.names(), parameters.strict(), fields);
    });
  }

  /** For routes that require this role. */
  public ApiRoutes role(Caller.Role needed) {
    return with(copy -> copy.role = needed);
  }

  /** For routes that keep to the reach of the caller, so that callers with a limit may use them. */
  public ApiRoutes limitable() {
    return with(copy -> copy.limitable = true);
  }

  /**
   * For routes that only read the store, so that a server that follows it may answer callers that
   * accept an answer of some age. They read the query parameter {@link Route#STALE} too, which the
   * server handles.
   */
  public ApiRoutes stale() {
    return with(copy -> copy.stale = true);
  }

  /**
   * For routes that accept these credentials besides the server's token and keys. The default is
   * none.
   */
  public ApiRoutes credentials(Credentials accepted) {
    return with(copy -> copy.credentials = accepted);
  }

  /** For routes whose errors have this form. The default is {@link ErrorForm#PLAIN}. */
  public ApiRoutes errors(ErrorForm form) {
    return with(copy -> copy.errors = form);
  }

  /**
   * For routes that do this, in the words of the audit log: a kind of thing and a verb, for example
   * {@code queue.create}. The default is none: the routes change nothing.
   */
  public ApiRoutes action(String kindAndVerb) {
    return with(copy -> copy.action = kindAndVerb);
  }

  /** Adds a route for GET, and for HEAD. */
  public ApiRoutes get(String path, Handler handler) {
    return add(HttpMethod.GET, path, handler, null);
  }

  /** Adds a route for POST. */
  public ApiRoutes post(String path, Handler handler) {
    return add(HttpMethod.POST, path, handler, null);
  }

  /**
   * Adds a route for POST that handles short requests on the event loop.
   *
   * @param nonBlocking handles short requests
   * @param handler handles the others, and those that {@code nonBlocking} declines
   */
  public ApiRoutes post(String path, NonBlockingHandler nonBlocking, Handler handler) {
    return add(HttpMethod.POST, path, handler, nonBlocking);
  }

  /** Adds a route for PUT. */
  public ApiRoutes put(String path, Handler handler) {
    return add(HttpMethod.PUT, path, handler, null);
  }

  /** Adds a route for PATCH. */
  public ApiRoutes patch(String path, Handler handler) {
    return add(HttpMethod.PATCH, path, handler, null);
  }

  /** Adds a route for DELETE. */
  public ApiRoutes delete(String path, Handler handler) {
    return add(HttpMethod.DELETE, path, handler, null);
  }

  private ApiRoutes add(
      HttpMethod method, String path, Handler handler, @Nullable NonBlockingHandler nonBlocking) {
    Caller.Role needed = role;
    if (needed == null) {
      needed = method == HttpMethod.GET ? Caller.Role.VIEWER : Caller.Role.SUBMITTER;
    }
    Route.Parameters read = stale ? parameters.and(Route.STALE) : parameters;
    for (String root : roots) {
      routes.add(
          new Route(
              method,
              root + path,
              read,
              body,
              needed,
              limitable,
              stale,
              credentials,
              errors,
              action,
              handler,
              nonBlocking));
    }
    return this;
  }

  /** A copy of the routes added so far, in order. */
  public List<Route> routes() {
    return List.copyOf(routes);
  }
}
