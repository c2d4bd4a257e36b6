package io.millrace.cluster.lambda;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs on another member. All that it captures crosses with it and has to be
 * serializable; a lambda inside a method that uses a field or a method of its object captures that
 * object.
 *
 * @param <T> what it returns, which crosses back; {@code @Nullable Void} for nothing
 */
@FunctionalInterface
public interface SerializableLambda<T extends @Nullable Object> extends Serializable {
  /**
   * Runs on the member. The thread is interrupted when it is to stop.
   *
   * @throws Exception if it fails
   */
  T run() throws Exception;
}
