package io.millrace.cluster.lambda;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs on another member. Everything that it captures is sent with it and must be
 * serializable. A lambda that uses a field or a method of an object captures that object.
 *
 * @param <T> the type of the result, which is sent back; {@code @Nullable Void} for no result
 */
@FunctionalInterface
public interface SerializableLambda<T extends @Nullable Object> extends Serializable {
  /**
   * Runs on the member. The thread is interrupted if it must stop.
   *
   * @throws Exception if it fails
   */
  T run() throws Exception;
}
