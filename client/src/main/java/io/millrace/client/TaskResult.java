package io.millrace.client;

import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The result of a {@link TaskHandler}: what happens to the task. */
public sealed interface TaskResult {
  /**
   * The task is deleted.
   *
   * @param parts adds further parts to the transaction; called again if the transaction is retried
   */
  record Done(Consumer<Transaction.Builder> parts) implements TaskResult {}

  /**
   * The task is kept for later.
   *
   * @param delay how long this client keeps the task before any client can claim it; zero releases
   *     it at once
   * @param data the new data; null keeps the old data
   */
  record Again(Duration delay, @Nullable Bytes data) implements TaskResult {}

  /** Deletes the task. */
  static TaskResult done() {
    return new Done(_ -> {});
  }

  /** Deletes the task and adds more to the same transaction, for example the next task. */
  static TaskResult with(Consumer<Transaction.Builder> parts) {
    return new Done(parts);
  }

  /** Keeps the task with its data. It is available after this delay. */
  static TaskResult again(Duration delay) {
    return new Again(delay, null);
  }

  /** Keeps the task with new data. It is available after this delay. */
  static TaskResult again(Duration delay, Bytes data) {
    return new Again(delay, data);
  }
}
