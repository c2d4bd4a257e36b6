package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.Subscription.Interest;
import io.millrace.work.Subscriber;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Follows the attempts at queue tasks, on whatever node they run, by the changes of the store.
 * Tasks that wait cost it nothing: it reads the documents of runs, and those of tasks that start or
 * end. If it falls so far behind that the store no longer keeps a change, it begins anew, and the
 * attempts that have started or ended meanwhile are missing.
 *
 * <p>Safe for use by threads.
 */
public final class AttemptWatch implements AutoCloseable {
  private final QueueSession session;
  private final Observer observer;
  private final Map<ObjectId, Active> active = new HashMap<>();
  private final Subscriber subscriber;

  private AttemptWatch(QueueSession session, Observer observer) {
    this.session = session;
    this.observer = observer;
    this.subscriber =
        Subscriber.start(
            "queue-attempts",
            session.store(),
            new Interest(null, Set.of(), Set.of(Keys.RUNS, Keys.TASKS)),
            new Changes());
  }

  static AttemptWatch start(QueueSession session, Observer observer) {
    return new AttemptWatch(session, observer);
  }

  /** Is told of attempts, by one thread; must be quick and must not fail. */
  public interface Observer {
    /**
     * A runner has started to work on a task for the first time.
     *
     * @param waitedMillis the time since it was created, from 0
     */
    void startedFirst(Run run, long waitedMillis);

    /**
     * An attempt has ended.
     *
     * @param ranMillis for how long the runner worked on it, from 0; negative if none had started
     */
    void ended(Run run, End end, long ranMillis);
  }

  /** How an attempt ended. */
  public enum End {
    /** With status 1. */
    SUCCEEDED,
    /** With status 2, for good. */
    FAILED,
    /** With another positive status, which the plugin chose. */
    FINISHED,
    /** It failed and is to be tried again. */
    RETRIED,
    /** It asked to be put off. */
    SNOOZED,
    /** Its lease was lost, because its runner or node was. */
    ORPHANED,
    /** It was terminated, or its task deleted. */
    TERMINATED,
    /** The node gave it back before it had started. */
    RETURNED;

    /** Its name in lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A task that is claimed or running.
   *
   * @param before its attempts before this one; null if they are not known
   * @param orphaned how often it had been orphaned before
   */
  record Active(Run run, @Nullable Retries before, int orphaned) {
    static Active of(Run run, @Nullable QueueTask task) {
      return task == null
          ? new Active(run, null, 0)
          : new Active(run, task.progress().retries(), task.progress().orphaned());
    }

    boolean isFirst() {
      return before != null && before.failed() == 0 && before.snoozed() == 0 && orphaned == 0;
    }

    /** How it ended, by the task after it; null if that was deleted. */
    End end(@Nullable QueueTask task) {
      if (task == null) {
        return End.TERMINATED;
      }
      return switch (task.status()) {
        case Status.SUCCEEDED -> End.SUCCEEDED;
        case Status.FAILED -> End.FAILED;
        case Status.QUEUED -> queuedAgain(task);
        case Status.ORPHANED -> End.ORPHANED;
        default -> Status.isFinished(task.status()) ? End.FINISHED : End.TERMINATED;
      };
    }

    private End queuedAgain(QueueTask task) {
      Retries after = task.progress().retries();
      int failed = before == null ? 0 : before.failed();
      int snoozed = before == null ? 0 : before.snoozed();
      if (after.failed() > failed) {
        return End.RETRIED;
      }
      if (after.snoozed() > snoozed) {
        return End.SNOOZED;
      }
      return task.progress().orphaned() > orphaned ? End.ORPHANED : End.RETURNED;
    }
  }

  /** How many tasks are claimed or running, by the name of the node. */
  public Map<String, Long> activeByNode() {
    Map<String, Long> counts = new HashMap<>();
    synchronized (active) {
      active.values().forEach(each -> counts.merge(each.run().node(), 1L, Long::sum));
    }
    return counts;
  }

  @Override
  public void close() {
    subscriber.close();
  }

  /** What the store tells. */
  private final class Changes implements Subscriber.Listener {
    @Override
    public void opened() {
      Map<ObjectId, Active> found = new HashMap<>();
      for (Document document : session.all(Keys.RUNS)) {
        Run run = Run.read(document);
        QueueTask task = session.document(Keys.task(run.task())).map(QueueTask::read).orElse(null);
        found.put(run.task(), Active.of(run, task));
      }
      synchronized (active) {
        active.clear();
        active.putAll(found);
      }
    }

    @Override
    public void committed(Commit commit) {
      Map<String, @Nullable Document> runs = new HashMap<>();
      commit.forEachDocument((key, document) -> {
        if (key.collection().equals(Keys.RUNS)) {
          runs.put(key.key(), document);
        }
      });
      if (runs.isEmpty()) {
        return;
      }
      Map<String, @Nullable Document> tasks = new HashMap<>();
      commit.forEachDocument((key, document) -> {
        if (key.collection().equals(Keys.TASKS) && runs.containsKey(key.key())) {
          tasks.put(key.key(), document);
        }
      });
      runs.forEach((key, run) -> changed(key, run, tasks.get(key)));
    }

    private void changed(String key, @Nullable Document run, @Nullable Document document) {
      ObjectId id = new ObjectId(key);
      QueueTask task = document == null ? null : QueueTask.read(document);
      if (run != null) {
        changed(Run.read(run), task);
        return;
      }
      Active ended;
      synchronized (active) {
        ended = active.remove(id);
      }
      if (ended != null) {
        boolean ran = ended.run().status() == Status.RUNNING;
        long endMillis = task == null ? session.nowMillis() : task.progress().mtimeMillis();
        observer.ended(
            ended.run(),
            ended.end(task),
            ran ? Math.max(0, endMillis - ended.run().sinceMillis()) : -1);
      }
    }

    private void changed(Run run, @Nullable QueueTask task) {
      Active before;
      Active now;
      synchronized (active) {
        before = active.get(run.task());
        now =
            task == null && before != null
                ? new Active(run, before.before(), before.orphaned())
                : Active.of(run, task);
        active.put(run.task(), now);
      }
      boolean starts =
          run.status() == Status.RUNNING
              && (before == null || before.run().status() != Status.RUNNING);
      if (starts && task != null && now.isFirst()) {
        observer.startedFirst(run, Math.max(0, run.sinceMillis() - task.ctimeMillis()));
      }
    }
  }
}
