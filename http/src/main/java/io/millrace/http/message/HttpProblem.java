package io.millrace.http.message;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request that is turned away: the status, and a message for the caller. The route's {@link
 * ErrorForm} makes the answer of it. Costs no stack trace.
 */
public class HttpProblem extends HttpException {
  private final int status;
  private final transient Map<String, String> headers;
  private transient @Nullable ErrorForm form;

  /** With a status from 400 to 599 and a message that a person can act on. */
  public HttpProblem(int status, String message) {
    this(status, message, Map.of());
  }

  /** With further headers of the answer. */
  protected HttpProblem(int status, String message, Map<String, String> headers) {
    super(message);
    this.status = status;
    this.headers = headers;
  }

  /** Malformed: 400. */
  public static HttpProblem malformed(String message) {
    return new HttpProblem(400, message);
  }

  /** Nothing there: 404. */
  public static HttpProblem notFound(String message) {
    return new HttpProblem(404, message);
  }

  /** Too much of something: 413. */
  public static HttpProblem tooLarge(String message) {
    return new HttpProblem(413, message);
  }

  /** Not now: 503, with how many seconds to wait before another try. */
  public static HttpProblem unavailable(String message, int retryAfterSeconds) {
    return new HttpProblem(503, message)
        .withHeader("Retry-After", Integer.toString(retryAfterSeconds));
  }

  /** The same with one more header. */
  public final HttpProblem withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new HttpProblem(status, String.valueOf(getMessage()), more);
  }

  /** The same problem, to be answered in this form wherever it was found. */
  public final HttpProblem withForm(ErrorForm itsForm) {
    form = itsForm;
    return this;
  }

  /** How it is to be answered; null if the request's route says so. */
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

  /** Headers of the answer beyond those of every error. */
  public final Map<String, String> headers() {
    return headers;
  }

  @Override
  public final synchronized Throwable fillInStackTrace() {
    return this;
  }
}
