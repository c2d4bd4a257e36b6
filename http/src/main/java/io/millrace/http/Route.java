package io.millrace.http;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One method of one path: what it takes, who may use it, how its errors look, and what answers it.
 * Immutable.
 *
 * @param method the method; GET answers HEAD too
 * @param path segments after slashes; {@code {name}} is a parameter, which may be empty
 * @param parameters which parameters of the query it reads
 * @param body what it reads as body
 * @param role which role a caller needs
 * @param credentials what callers may show beside the server's token
 * @param errors how its errors look
 * @param handler answers what {@code prompt} leaves to it, and what that is not asked: long
 *     requests, and those that come in pieces or several at once
 * @param prompt answers short requests without a thread of their own; null if nothing does
 */
public record Route(
    HttpMethod method,
    String path,
    Parameters parameters,
    Body body,
    Caller.Role role,
    Credentials credentials,
    ErrorForm errors,
    Handler handler,
    @Nullable PromptHandler prompt) {
  /** What a route reads as body. */
  public enum Body {
    /** None: one that comes is not looked at. */
    NONE,
    /** A JSON value. */
    JSON,
    /** A JSON object, or the same fields as a form or in the query. */
    FIELDS,
    /** A multipart form. */
    FORM,
    /** Bytes of any meaning. */
    BYTES
  }

  /**
   * The parameters of a query.
   *
   * @param names those that the route reads
   * @param strict whether others are answered with 400, instead of being passed over
   */
  public record Parameters(Set<String> names, boolean strict) {
    /** None are read, and others are passed over. */
    public static final Parameters NONE = new Parameters(Set.of(), false);

    /** Of these. */
    public Parameters {
      names = Set.copyOf(names);
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
   * Who shows the credentials of this route.
   *
   * @return null if the request shows none and may do without
   * @throws HttpProblem 401 or 403 if it may not, or if they are wrong
   */
  public @Nullable Caller callerBy(AccessCheck.Headers headers) {
    try {
      Caller caller = credentials.caller(headers);
      if (caller == null && credentials.isRequired()) {
        throw credentials.absent();
      }
      return caller;
    } catch (HttpProblem problem) {
      throw problem.in(errors);
    }
  }

  /** Answers as the handler does, after the checks that every route has. */
  Reply handle(Request request) throws IOException, InterruptedException {
    if (parameters.strict()) {
      request.query().checkNames(parameters.names());
    }
    return handler.handle(request);
  }
}
