package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.AttemptWatch.Active;
import io.millrace.queues.registry.AttemptWatch.End;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.Subscription.Interest;
import io.millrace.work.Subscriber;
import io.millrace.work.trace.Span;
import io.millrace.work.trace.SpanRecorder;
import io.millrace.work.trace.SpanRecorder.Attempt;
import io.millrace.work.trace.SpanRecorder.Work;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Records the spans of queue tasks that belong to a trace, by the changes of the store, on whatever
 * node they run. Attempts that are running when it begins are found in the store; those that end
 * while nobody watches have no span.
 */
final class TaskSpans implements Subscriber.Listener {
  private static final int MOST_NAMES = 10_000;

  private final QueueSession session;
  private final SpanRecorder recorder;
  private final Map<ObjectId, Active> active = new HashMap<>();
  private final Map<ObjectId, String> names = new HashMap<>();

  private TaskSpans(QueueSession session, Consumer<Span> spans) {
    this.session = session;
    this.recorder = new SpanRecorder(QueueTask.SPAN_KIND, spans);
  }

  static Subscriber start(QueueSession session, Consumer<Span> spans) {
    return Subscriber.start(
        "queue-spans",
        session.store(),
        new Interest(null, Set.of(), Set.of(Keys.RUNS, Keys.TASKS)),
        new TaskSpans(session, spans));
  }

  @Override
  public void opened() {
    active.clear();
    for (Document document : session.all(Keys.RUNS)) {
      Run run = Run.read(document);
      session
          .document(Keys.task(run.task()))
          .map(QueueTask::read)
          .filter(TaskSpans::isTraced)
          .ifPresent(task -> active.put(run.task(), Active.of(run, task)));
    }
  }

  private static boolean isTraced(QueueTask task) {
    return task.trace() != null;
  }

  @Override
  public void committed(Commit commit) {
    Map<String, @Nullable Document> runs = new HashMap<>();
    commit.forEachDocument((key, document) -> {
      if (key.collection().equals(Keys.RUNS)) {
        runs.put(key.key(), document);
      }
    });
    commit.forEachDocument((key, document) -> {
      if (key.collection().equals(Keys.TASKS) && document != null) {
        QueueTask task = QueueTask.read(document);
        if (isTraced(task)) {
          changed(task, runs.get(key.key()));
        }
      }
    });
    runs.forEach((key, run) -> {
      if (run == null) {
        active.remove(new ObjectId(key));
      }
    });
  }

  private void changed(QueueTask task, @Nullable Document document) {
    Work work =
        new Work(
            task.id().hex(),
            name(task.queue()),
            Objects.requireNonNull(task.trace()),
            task.ctimeMillis());
    if (document != null) {
      active.put(task.id(), Active.of(Run.read(document), task));
      return;
    }
    long changedMillis = task.progress().mtimeMillis();
    Active before = active.remove(task.id());
    if (before != null && before.run().status() == Status.RUNNING) {
      recorder.attempted(
          work,
          new Attempt(
              before.run().claim().token(),
              before.isFirst(),
              before.run().sinceMillis(),
              changedMillis,
              before.run().node()),
          end(before.end(task)));
    }
    int status = task.status();
    if (status == Status.QUEUED) {
      boolean again =
          before == null
              ? changedMillis > task.ctimeMillis()
              : before.run().status() == Status.RUNNING;
      if (again) {
        recorder.waits(work, changedMillis);
      }
    } else if (status != Status.BLOCKED) {
      recorder.ended(
          work,
          changedMillis,
          status == Status.SUCCEEDED || status > Status.FAILED
              ? SpanRecorder.End.succeeded(Status.name(status))
              : SpanRecorder.End.failed(Status.name(status)));
    }
  }

  private static SpanRecorder.End end(End end) {
    return switch (end) {
      case SUCCEEDED, FINISHED, SNOOZED, RETURNED -> SpanRecorder.End.succeeded(end.word());
      case FAILED, RETRIED, ORPHANED, TERMINATED -> SpanRecorder.End.failed(end.word());
    };
  }

  /** The name of a queue, which does not change. */
  private String name(ObjectId queue) {
    if (names.size() >= MOST_NAMES) {
      names.clear();
    }
    return names.computeIfAbsent(
        queue,
        id ->
            session
                .document(Keys.queue(id))
                .map(found -> Queue.read(found).name())
                .orElse(id.hex()));
  }
}
