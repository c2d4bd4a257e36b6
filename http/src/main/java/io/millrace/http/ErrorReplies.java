package io.millrace.http;

import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the exceptions of handlers mean to a client; the route's {@link ErrorForm} makes the answer
 * of it. Filled by one thread before the server starts.
 */
public final class ErrorReplies {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.server.requests");

  private final Map<Class<? extends RuntimeException>, Function<RuntimeException, HttpProblem>>
      meanings = new LinkedHashMap<>();

  /**
   * Exceptions of this type and its subtypes have this meaning. If several types fit an exception,
   * the one that was added first counts.
   */
  public <E extends RuntimeException> ErrorReplies add(
      Class<E> type, Function<E, HttpProblem> meaning) {
    meanings.put(type, e -> meaning.apply(type.cast(e)));
    return this;
  }

  /** Exceptions of this type are answered with this status and their own message. */
  public ErrorReplies add(Class<? extends RuntimeException> type, int status) {
    return add(type, e -> new HttpProblem(status, String.valueOf(e.getMessage())));
  }

  /** Exceptions of this type are answered with 503, and may be gone in a second. */
  public ErrorReplies addUnavailable(Class<? extends RuntimeException> type) {
    return add(type, e -> HttpProblem.unavailable(String.valueOf(e.getMessage()), 1));
  }

  /**
   * The answer to what was thrown for a request. If it is not foreseen, it is a failure of the
   * server's own and logged: 500, or 504 if a command was handed to the store, so that nobody can
   * tell whether it was carried out.
   */
  Reply.Whole answer(Throwable thrown, Request request) {
    HttpProblem foreseen = thrown instanceof RuntimeException e ? meaning(e) : null;
    if (foreseen != null) {
      ErrorForm form = foreseen.form();
      return (form == null ? request.errors() : form).reply(foreseen);
    }
    LOG.error("no answer to {}", request, thrown);
    String what = thrown.getClass().getName();
    return ErrorForm.PLAIN.reply(
        request.hasSubmitted()
            ? new HttpProblem(
                504, "the server failed, and nobody knows whether the change was made: " + what)
            : new HttpProblem(500, "the server made a mistake, its log says which: " + what));
  }

  private @Nullable HttpProblem meaning(RuntimeException thrown) {
    if (thrown instanceof HttpProblem problem) {
      return problem;
    }
    for (Map.Entry<Class<? extends RuntimeException>, Function<RuntimeException, HttpProblem>>
        meaning : meanings.entrySet()) {
      if (meaning.getKey().isInstance(thrown)) {
        return meaning.getValue().apply(thrown);
      }
    }
    return null;
  }
}
