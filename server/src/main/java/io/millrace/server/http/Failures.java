package io.millrace.server.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the exceptions of handlers mean to a client. Filled by one thread before the server starts.
 */
public final class Failures {
  private final Map<Class<? extends RuntimeException>, Function<RuntimeException, Reply.Whole>>
      meanings = new LinkedHashMap<>();

  /** Answers exceptions of this type and its subtypes so; the first type given that fits counts. */
  public <E extends RuntimeException> Failures add(
      Class<E> type, Function<E, Reply.Whole> meaning) {
    meanings.put(type, e -> meaning.apply(type.cast(e)));
    return this;
  }

  /**
   * The answer to what was thrown for a request. If it is not foreseen, it is a failure of the
   * server's own and logged: 500, or 504 if a command was handed to the store, so that nobody can
   * tell whether it was carried out.
   */
  Reply.Whole answer(Throwable thrown, RequestLog.Entry entry) {
    Reply.Whole foreseen = thrown instanceof RuntimeException e ? reply(e) : null;
    if (foreseen != null) {
      return foreseen;
    }
    RequestLog.unforeseen(entry, thrown);
    String what = thrown.getClass().getName();
    return Problems.reply(
        entry.hasSubmitted()
            ? new HttpProblem(
                504, "the server failed, and nobody knows whether the change was made: " + what)
            : new HttpProblem(500, "the server made a mistake, its log says which: " + what));
  }

  private Reply.@Nullable Whole reply(RuntimeException thrown) {
    if (thrown instanceof HttpProblem problem) {
      return Problems.reply(problem);
    }
    for (Map.Entry<Class<? extends RuntimeException>, Function<RuntimeException, Reply.Whole>>
        meaning : meanings.entrySet()) {
      if (meaning.getKey().isInstance(thrown)) {
        return meaning.getValue().apply(thrown);
      }
    }
    return null;
  }
}
