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
   * @param parts adds what else belongs to the same transaction; called again if the transaction
   *     has to be sent again
   */
  record Done(Consumer<Transaction.Builder> parts) implements Finish {}

  /**
   * The task stays, for later.
   *
   * @param delay how long it stays with this client before anybody may claim it; zero gives it back
   *     at once
   * @param data its new data; null keeps what it has
   */
  record Again(Duration delay, @Nullable Bytes data) implements Finish {}

  /** Deletes the task. */
  static Finish done() {
    return new Done(_ -> {});
  }

  /** Deletes the task and does more in the same transaction, such as adding what comes next. */
  static Finish with(Consumer<Transaction.Builder> parts) {
    return new Done(parts);
  }

  /** Gives the task back with its data, for after this delay. */
  static Finish again(Duration delay) {
    return new Again(delay, null);
  }

  /** Gives the task back with new data, for after this delay. */
  static Finish again(Duration delay, Bytes data) {
    return new Again(delay, data);
  }
}
