package io.millrace.queues;

import io.millrace.store.Change;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.Interest;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A stream of the changes of queue tasks, each once and in order. For use by one thread; to be
 * closed.
 */
public final class TaskChanges implements AutoCloseable {
  private static final Interest TASKS = new Interest(null, Set.of(), Set.of(Keys.TASKS));

  private final Subscription commits;

  private TaskChanges(Subscription commits) {
    this.commits = commits;
  }

  static TaskChanges begin(TaskStore store) {
    return new TaskChanges(store.subscribe(TASKS));
  }

  /**
   * The changes of the next commit that has any, waiting for it.
   *
   * @param timeout how long to wait in real time
   * @param wanted the tasks of interest; others are not even read
   * @return the tasks as they are after their changes, in order; none when the time is over, or
   *     where only others changed. Tasks that went to the archive are not told
   * @throws PositionLostException when the stream was read too slowly
   */
  public List<QueueTask> next(Duration timeout, Predicate<ObjectId> wanted)
      throws InterruptedException {
    Commit commit = commits.next(timeout);
    if (commit == null) {
      return List.of();
    }
    List<QueueTask> changed = new ArrayList<>();
    for (Change change : commit.changes()) {
      if (change instanceof Change.DocumentPut(long _, Document document)
          && wanted.test(new ObjectId(document.key().key()))) {
        changed.add(TaskForm.read(document));
      }
    }
    return changed;
  }

  @Override
  public void close() {
    commits.close();
  }
}
