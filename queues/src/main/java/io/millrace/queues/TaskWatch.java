package io.millrace.queues;

import io.millrace.store.Change;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Interest;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Watches some tasks until all have ended: finished, or held back. For use by one thread; to be
 * closed.
 */
public final class TaskWatch implements AutoCloseable {
  private static final Interest TASKS = new Interest(null, Set.of(), Set.of(Keys.TASKS));

  private final Ledger ledger;
  private final Map<String, @Nullable Integer> statuses = new LinkedHashMap<>();
  private final Set<String> pending = new HashSet<>();
  private Subscription changes;

  private TaskWatch(Ledger ledger, Collection<ObjectId> tasks) {
    this.ledger = ledger;
    tasks.forEach(task -> pending.add(task.hex()));
    tasks.forEach(task -> statuses.put(task.hex(), null));
    this.changes = ledger.store().subscribe(TASKS);
  }

  static TaskWatch begin(Ledger ledger, Collection<ObjectId> tasks) {
    TaskWatch watch = new TaskWatch(ledger, tasks);
    watch.look();
    return watch;
  }

  private void look() {
    for (String id : Set.copyOf(pending)) {
      note(id, ledger.document(Keys.task(new ObjectId(id))).orElse(null));
    }
  }

  private void note(String id, @Nullable Document document) {
    Integer status = document == null ? null : Integer.valueOf(TaskForm.read(document).status());
    statuses.put(id, status);
    if (status == null || Status.isFinished(status) || Status.isHeld(status)) {
      pending.remove(id);
    }
  }

  /** The last known status of each task, in the order asked; null for those that are not there. */
  public Map<String, @Nullable Integer> statuses() {
    return statuses;
  }

  /** How many have not ended. */
  public int pending() {
    return pending.size();
  }

  /** Waits for news, so long at most; returns at once where all have ended. */
  public void await(Duration timeout) throws InterruptedException {
    if (pending.isEmpty()) {
      return;
    }
    try {
      Commit commit = changes.next(timeout);
      if (commit != null) {
        commit.changes().forEach(this::see);
      }
    } catch (PositionLostException _) {
      // Too much has happened to follow it one by one.
      changes.close();
      changes = ledger.store().subscribe(TASKS);
      look();
    }
  }

  private void see(Change change) {
    switch (change) {
      case Change.DocumentPut(long _, Document document)
          when pending.contains(document.key().key()) ->
          note(document.key().key(), document);
      case Change.DocumentDeleted(DocumentKey key, long _) when pending.contains(key.key()) ->
          note(key.key(), null);
      default -> {}
    }
  }

  @Override
  public void close() {
    changes.close();
  }
}
