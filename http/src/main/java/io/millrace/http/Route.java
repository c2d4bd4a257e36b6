package io.millrace.http;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A route: one method of one path, its input, the role it requires, its form of errors, and its
 * handler. Immutable.
 *
 * @param method the method; a route for GET answers HEAD too
 * @param path the path; a segment {@code {name}} is a parameter, which may be empty
 * @param parameters the query parameters, and the fields of its body, that it reads
 * @param body the kind of body that it reads
 * @param role the role that a caller needs
 * @param limitable whether it keeps to the reach of the caller; other routes are refused to callers
 *     whose reach is limited
 * @param stale whether a server that only follows the store may answer it, for callers that accept
 *     an answer of some age: with the query parameter {@link #STALE}
 * @param credentials credentials that it accepts besides the server's token and keys
 * @param errors the form of its errors
 * @param action what it does to what, for the audit log, for example {@code queue.create}; null if
 *     it changes nothing
 * @param handler handles the requests that {@code nonBlocking} does not get or declines
 * @param nonBlocking handles plain requests on the event loop; null for none
 */
public record Route(
    HttpMethod method,
    String path,
    Parameters parameters,
    Body body,
    Caller.Role role,
    boolean limitable,
    boolean stale,
    Credentials credentials,
    ErrorForm errors,
    @Nullable String action,
    Handler handler,
    @Nullable NonBlockingHandler nonBlocking) {
  /** The query parameter with the greatest age that a caller accepts. */
  public static final String STALE = "stale";

  /** The kind of body that a route reads. */
  public enum Body {
    /** None; a body is ignored. */
    NONE,
    /** A JSON value. */
    JSON,
    /** A JSON object, or the same fields as an HTML form or in the query. */
    FIELDS,
    /** A multipart form. */
    FORM,
    /** Any bytes. */
    BYTES
  }

  /**
   * The query parameters of a route, and the fields of its body.
   *
   * @param names the query parameters that the route reads
   * @param strict whether others are answered with 400 instead of being ignored
   * @param fields the fields of its body that the route reads, for a form or a JSON object, or for
   *     each object of a JSON array; empty if the body has none, or any
   */
  public record Parameters(Set<String> names, boolean strict, Set<String> fields) {
    /** No parameter is read, and all are ignored. */
    public static final Parameters NONE = new Parameters(Set.of(), false, Set.of());

    /** Copies the names. */
    public Parameters {
      names = Set.copyOf(names);
      fields = Set.copyOf(fields);
    }

    /** The same with one more query parameter. */
    Parameters and(String name) {
      Set<String> more = new HashSet<>(names);
      more.add(name);
      return new Parameters(more, strict, fields);
    }
  }

  /** The names of its path parameters, in order. */
  List<String> names() {
    return Arrays.stream(path.split("/", -1))
        .filter(part -> part.startsWith("{"))
        .map(part -> part.substring(1, part.length() - 1))
        .toList();
  }

  /**
   * Checks that a caller has the role of this route, and a reach that the route can keep to.
   *
   * @throws HttpProblem 403 otherwise
   */
  public void check(Caller caller) {
    if (!caller.may(role)) {
      throw new HttpProblem(
          403,
          "%s requires the role %s, which %s does not have"
              .formatted(path, role.name().toLowerCase(Locale.ROOT), caller.principal()));
    }
    if (!limitable && role != Caller.Role.ANYONE && !caller.reach().coversEverything()) {
      throw new HttpProblem(
          403,
          "%s concerns the whole server, and the reach of %s is limited"
              .formatted(path, caller.principal()));
    }
  }

  /** The same with another handler, which handles every request. */
  public Route withHandler(Handler other) {
    return new Route(
        method,
        path,
        parameters,
        body,
        role,
        limitable,
        stale,
        credentials,
        errors,
        action,
        other,
        null);
  }

  /** The same for anyone; its handler checks the caller. */
  public Route forAnyone() {
    return new Route(
        method,
        path,
        parameters,
        body,
        Caller.Role.ANYONE,
        true,
        stale,
        Credentials.NONE,
        errors,
        action,
        handler,
        nonBlocking);
  }

  /**
   * The caller with the credentials of this route in these headers.
   *
   * @return null if there are none and they are not required
   * @throws HttpProblem 401 or 403 if they are missing but required, or wrong
   */
  public @Nullable Caller callerBy(Headers headers) {
    try {
      Caller caller = credentials.caller(headers);
      if (caller == null && credentials.isRequired()) {
        throw credentials.absent();
      }
      return caller;
    } catch (HttpProblem problem) {
      throw problem.withForm(errors);
    }
  }

  /** Handles the requests of one route. Called by many virtual threads, which may block. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Handles a request.
     *
     * @throws HttpProblem to refuse it
     * @throws IOException if its body cannot be read
     * @throws InterruptedException if the connection is being closed
     */
    Response handle(Request request) throws IOException, InterruptedException;
  }

  /**
   * Handles the requests of one route without blocking. Called on an event loop, which serves many
   * connections, so it must be quick: parse the request, submit it, and return a future response.
   */
  @FunctionalInterface
  public interface NonBlockingHandler {
    /**
     * Starts handling a request whose body is complete.
     *
     * <p>An exception has the same effect as null, unless {@link Request#submitted} was called
     * before. So nothing else may have been changed when it is thrown.
     *
     * @param tick the current tick of the loop; other requests may begin in it before responses are
     *     written
     * @return the future response; null to leave the request to the route's {@link Handler}
     */
    @Nullable AsyncResponse begin(Request request, LoopTick tick) throws IOException;
  }
}
