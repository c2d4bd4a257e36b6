package io.millrace.client;

import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How the work on a task ends. */
public sealed interface Finish {
  /**
   * The task is deleted.
   *
   * @param parts adds further parts to the transaction; called again if the transaction is repeated
   */
  record Done(Consumer<Transaction.Builder> parts) implements Finish {}

  /**
   * The task is kept for later.
   *
   * @param delay how long this client owns it before any client can claim it; zero releases it at
   *     once
   * @param data the new data; null keeps the old data
   */
  record Again(Duration delay, @Nullable Bytes data) implements Finish {}

  /** Deletes the task. */
  static Finish done() {
    return new Done(_ -> {});
  }

  /** Deletes the task and does more in the same transaction, for example adds the next task. */
  static Finish with(Consumer<Transaction.Builder> parts) {
    return new Done(parts);
  }

  /** Keeps the task with its data, available after this delay. */
  static Finish again(Duration delay) {
    return new Again(delay, null);
  }

  /** Keeps the task with new data, available after this delay. */
  static Finish again(Duration delay, Bytes data) {
    return new Again(delay, data);
  }
}
