package io.millrace.bench;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Journaling;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/** Fills stores with waiting tasks. */
final class Waiting {
  private static final int PART = 1_000;
  private static final int OUTSTANDING = 8;

  private Waiting() {}

  /** Makes a store in {@code folder} hold so many waiting tasks, and closes it. */
  static void fill(Path folder, int tasks) {
    try (EmbeddedTaskStore store =
        TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC))) {
      fill(store, tasks);
    }
  }

  /** Adds so many tasks. */
  static void fill(TaskStore store, int tasks) {
    ArrayDeque<CompletableFuture<Outcome>> answers = new ArrayDeque<>();
    for (int left = tasks; left > 0; left -= PART) {
      Transaction.Builder part = Transaction.by(Owner.client(1));
      for (int i = 0; i < Math.min(PART, left); i++) {
        part.add(Lifecycle.GROUP, Lifecycle.data());
      }
      answers.add(store.submit(part.build()));
      if (answers.size() > OUTSTANDING) {
        answers.remove().join().done();
      }
    }
    answers.forEach(answer -> answer.join().done());
  }
}
