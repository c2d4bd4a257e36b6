package io.millrace.server.jobs;

import io.millrace.http.Request;
import io.millrace.http.events.CommitEvents;
import io.millrace.http.events.EventStream;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Workers;
import io.millrace.store.Position;
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/**
 * The changes of jobs, and their progress, as one client sees them. It writes only the latest
 * progress of each job, up to four times a second and as fast as the client reads, so a slow client
 * misses values in between and nothing piles up. For use by one thread.
 */
final class JobEvents implements EventStream.Source {
  private static final long PROGRESS_EVERY_NANOS = Duration.ofMillis(250).toNanos();

  private final DocumentChanges<JobChange> changes;
  private final Workers workers;
  private final Shapes shapes;
  private final Predicate<Job> wanted;

  /** Whether deleted jobs are told, of which the type is not known any more. */
  private final boolean unlimited;

  private long heard;
  private long looked;

  private JobEvents(
      DocumentChanges<JobChange> changes,
      Workers workers,
      Shapes shapes,
      Predicate<Job> wanted,
      boolean unlimited) {
    this.changes = changes;
    this.workers = workers;
    this.shapes = shapes;
    this.wanted = wanted;
    this.unlimited = unlimited;
  }

  /** Answers with the stream that a request asks for. */
  static Response response(Request request, Jobs jobs, Workers workers, Shapes shapes) {
    JobFilter filter = JobRoutes.filter(request.query());
    Predicate<Job> wanted = JobRoutes.reached(request).and(filter::matches);
    boolean unlimited = request.caller().reach().coversEverything();
    Position after = CommitEvents.after(request);
    return CommitEvents.response(
        request, () -> new JobEvents(jobs.changes(after), workers, shapes, wanted, unlimited));
  }

  @Override
  public void begin(EventStream.Target target) throws IOException {
    CommitEvents.start(target, changes.start());
    boolean _ = writeProgress(target);
    looked = System.nanoTime();
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    boolean written = false;
    Changed<JobChange> commit = changes.next(wait);
    if (System.nanoTime() - looked >= PROGRESS_EVERY_NANOS) {
      written = writeProgress(target);
      looked = System.nanoTime();
    }
    return (commit != null && write(target, commit)) || written;
  }

  private boolean writeProgress(EventStream.Target target) throws IOException {
    Progress.Updates news = workers.progressSince(heard);
    heard = news.number();
    List<CommitEvents.Event> events =
        news.jobs().stream()
            .filter(each -> wanted.test(each.job()))
            .map(each -> new CommitEvents.Event("progress", Shapes.of(each)))
            .toList();
    return CommitEvents.write(target, events, null);
  }

  private boolean write(EventStream.Target target, Changed<JobChange> commit) throws IOException {
    List<CommitEvents.Event> events =
        commit.events().stream()
            .filter(change -> change.job().map(wanted::test).orElse(unlimited))
            .map(this::event)
            .toList();
    return CommitEvents.write(target, events, commit.position());
  }

  private CommitEvents.Event event(JobChange change) {
    Job job = change.present();
    return job == null
        ? new CommitEvents.Event("deleted", Json.object().put("id", change.id().toString()))
        : new CommitEvents.Event("job", shapes.of(job));
  }

  @Override
  public void close() {
    changes.close();
  }
}
