package io.millrace.http;

import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.message.AsyncReply;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
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
 * @param handler answers what {@code nonBlocking} leaves to it, and what that is not asked: long
 *     requests, and those that come in pieces or several at once
 * @param nonBlocking answers short requests without a thread of their own; null if nothing does
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
    @Nullable NonBlockingHandler nonBlocking) {
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

  /**
   * Answers the requests of one route. Called by many threads, each a virtual one that may block.
   */
  @FunctionalInterface
  public interface Handler {
    /**
     * The answer to a request.
     *
     * @throws HttpProblem to refuse it
     * @throws IOException when its body cannot be read
     * @throws InterruptedException when the connection is being closed
     */
    Reply handle(Request request) throws IOException, InterruptedException;
  }

  /**
   * Answers the requests of one route without ever waiting. Called on a thread that serves many
   * connections, so what it does must be short: read the request, hand it on, say what is waited
   * for.
   */
  @FunctionalInterface
  public interface NonBlockingHandler {
    /**
     * Begins to answer a request, whose body has come as a whole.
     *
     * <p>Whatever is thrown has the same effect as null: the route's {@link Handler} is asked, as
     * if this one had not been. So nothing may have been done when it is thrown.
     *
     * @param round the turn of the loop; other requests may begin in it before the answers are
     *     written
     * @return what is waited for; null to leave the request to the route's {@link Handler}
     */
    @Nullable AsyncReply begin(Request request, LoopTick round) throws IOException;
  }
}
