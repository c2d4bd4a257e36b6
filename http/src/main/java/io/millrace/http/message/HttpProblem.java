package io.millrace.http.message;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The refusal of a request: a status and a message for the caller. The {@link ErrorForm} of the
 * route turns it into a response. It has no stack trace.
 */
public class HttpProblem extends HttpException {
  private final int status;
  private final transient Map<String, String> headers;
  private transient @Nullable ErrorForm form;
  private boolean guess;

  /** A problem with a status from 400 to 599 and a message that a person can act on. */
  public HttpProblem(int status, String message) {
    this(status, message, Map.of());
  }

  /** A problem with further headers of the response. */
  protected HttpProblem(int status, String message, Map<String, String> headers) {
    super(message);
    this.status = status;
    this.headers = headers;
  }

  /** Malformed: 400. */
  public static HttpProblem malformed(String message) {
    return new HttpProblem(400, message);
  }

  /** Not found: 404. */
  public static HttpProblem notFound(String message) {
    return new HttpProblem(404, message);
  }

  /** Too large: 413. */
  public static HttpProblem tooLarge(String message) {
    return new HttpProblem(413, message);
  }

  /** Temporarily unavailable: 503 with {@code Retry-After}. */
  public static HttpProblem unavailable(String message, int retryAfterSeconds) {
    return new HttpProblem(503, message)
        .withHeader("Retry-After", Integer.toString(retryAfterSeconds));
  }

  /** The same problem with one more header. */
  public final HttpProblem withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new HttpProblem(status, String.valueOf(getMessage()), more);
  }

  /** The same problem without this header. */
  public final HttpProblem withoutHeader(String name) {
    if (!headers.containsKey(name)) {
      return this;
    }
    Map<String, String> fewer = new LinkedHashMap<>(headers);
    fewer.remove(name);
    HttpProblem same = new HttpProblem(status, String.valueOf(getMessage()), fewer);
    same.form = form;
    same.guess = guess;
    return same;
  }

  /** Sets the form of the response, instead of that of the route. Returns this problem. */
  public final HttpProblem withForm(ErrorForm itsForm) {
    form = itsForm;
    return this;
  }

  /**
   * Marks it as the refusal of wrong credentials, which may be a guess; not of missing ones, or of
   * a lack of rights. Returns this problem.
   */
  public final HttpProblem ofWrongCredentials() {
    guess = true;
    return this;
  }

  /** Whether it refuses wrong credentials. */
  public final boolean isOfWrongCredentials() {
    return guess;
  }

  /** The form of the response; null for that of the route. */
  public final @Nullable ErrorForm form() {
    return form;
  }

  /** The status. */
  public final int status() {
    return status;
  }

  /** The message. */
  public final String message() {
    return String.valueOf(getMessage());
  }

  /** Further headers of the response. */
  public final Map<String, String> headers() {
    return headers;
  }

  @Override
  public final synchronized Throwable fillInStackTrace() {
    return this;
  }
}
