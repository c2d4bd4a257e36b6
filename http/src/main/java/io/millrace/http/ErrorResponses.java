package io.millrace.http;

import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps exceptions of handlers to responses: each type of exception to an {@link HttpProblem}, which
 * the {@link ErrorForm} of the route turns into a response. Filled by one thread before the server
 * starts, then thread-safe.
 */
public final class ErrorResponses {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private final Map<
          Class<? extends RuntimeException>, BiFunction<RuntimeException, Request, HttpProblem>>
      mappings = new LinkedHashMap<>();

  /**
   * Maps exceptions of this type and its subtypes. If several types match an exception, the one
   * that was added first applies.
   */
  public <E extends RuntimeException> ErrorResponses add(
      Class<E> type, Function<E, HttpProblem> mapping) {
    return add(type, (e, _) -> mapping.apply(e));
  }

  /** The same with a mapping that needs the request. */
  public <E extends RuntimeException> ErrorResponses add(
      Class<E> type, BiFunction<E, Request, HttpProblem> mapping) {
    mappings.put(type, (e, request) -> mapping.apply(type.cast(e), request));
    return this;
  }

  /** Maps exceptions of this type to this status and their own message. */
  public ErrorResponses add(Class<? extends RuntimeException> type, int status) {
    return add(type, e -> new HttpProblem(status, String.valueOf(e.getMessage())));
  }

  /** Maps exceptions of this type to 503 with {@code Retry-After: 1} and their own message. */
  public ErrorResponses addUnavailable(Class<? extends RuntimeException> type) {
    return add(type, e -> HttpProblem.unavailable(String.valueOf(e.getMessage()), 1));
  }

  /**
   * The response for an exception. One of an unmapped type is a bug: it is logged, and answered
   * with 500, or with 504 if a command was handed to the store before, because its outcome is
   * unknown.
   */
  Response.Whole of(Throwable thrown, Request request) {
    HttpProblem problem = thrown instanceof RuntimeException e ? map(e, request) : null;
    if (problem != null) {
      ErrorForm form = problem.form();
      return (form == null ? request.errors() : form).response(problem);
    }
    LOG.error("internal error while answering {}", request, thrown);
    String what = thrown.getClass().getName();
    ErrorForm form =
        request.errors().equals(ErrorForm.PROBLEM_DETAILS)
            ? ErrorForm.PROBLEM_DETAILS
            : ErrorForm.PLAIN;
    return form.response(
        request.hasSubmitted()
            ? new HttpProblem(
                504, "internal error, and it is unknown whether the change was made: " + what)
            : new HttpProblem(500, "internal error, see the log of the server: " + what));
  }

  private @Nullable HttpProblem map(RuntimeException thrown, Request request) {
    if (thrown instanceof HttpProblem problem) {
      return problem;
    }
    for (var mapping : mappings.entrySet()) {
      if (mapping.getKey().isInstance(thrown)) {
        return mapping.getValue().apply(thrown, request);
      }
    }
    return null;
  }
}
