package io.millrace.server.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the exceptions of handlers mean to a client. Filled by one thread before the server starts.
 */
public final class Failures {
  private final Map<Class<? extends RuntimeException>, Function<RuntimeException, Reply>> meanings =
      new LinkedHashMap<>();

  /** Answers exceptions of this type and its subtypes so; the first type given that fits counts. */
  public <E extends RuntimeException> Failures add(Class<E> type, Function<E, Reply> meaning) {
    meanings.put(type, e -> meaning.apply(type.cast(e)));
    return this;
  }

  /** The answer to what a handler threw; null where it is not foreseen. */
  @Nullable Reply reply(RuntimeException thrown) {
    if (thrown instanceof HttpProblem problem) {
      return Problems.reply(problem);
    }
    for (Map.Entry<Class<? extends RuntimeException>, Function<RuntimeException, Reply>> entry :
        meanings.entrySet()) {
      if (entry.getKey().isInstance(thrown)) {
        return entry.getValue().apply(thrown);
      }
    }
    return null;
  }
}
