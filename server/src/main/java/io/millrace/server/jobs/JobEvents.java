package io.millrace.server.jobs;

import io.millrace.http.EventStream;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobFilter;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Workers;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The changes of jobs, and their progress, as one client sees them. Of progress it writes the last
 * state of each job, four times a second at most and as fast as the client reads; so a slow client
 * misses states in between, and nothing piles up. For use by one thread.
 */
final class JobEvents implements EventStream.Source {
  private static final long PROGRESS_EVERY_NANOS = Duration.ofMillis(250).toNanos();

  private final JobChanges changes;
  private final Workers workers;
  private final Shapes shapes;
  private final JobFilter filter;
  private long heard;
  private long looked;

  private JobEvents(JobChanges changes, Workers workers, Shapes shapes, JobFilter filter) {
    this.changes = changes;
    this.workers = workers;
    this.shapes = shapes;
    this.filter = filter;
  }

  /** Answers with the stream that a request asks for. */
  static Reply reply(Request request, Jobs jobs, Workers workers, Shapes shapes) {
    JobFilter filter = Filters.of(request.query());
    Position after = after(request);
    return new EventStream(
            () -> new JobEvents(jobs.changes(after), workers, shapes, filter), JobEvents::lost)
        .reply(request);
  }

  private static @Nullable Position after(Request request) {
    String given =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    if (given == null) {
      return null;
    }
    try {
      return Position.parse(given);
    } catch (IllegalArgumentException _) {
      throw HttpProblem.malformed("this is no id of an event: " + given);
    }
  }

  private static byte @Nullable [] lost(RuntimeException failure) {
    return failure instanceof PositionLostException
        ? Json.bytes(Json.object().put("reason", failure.getMessage()))
        : null;
  }

  @Override
  public void begin(EventStream.Target target) throws IOException {
    write(target, "start", changes.start(), Json.object());
    boolean _ = writeProgress(target);
    looked = System.nanoTime();
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    boolean written = false;
    List<JobChange> commit = changes.next(wait);
    if (System.nanoTime() - looked >= PROGRESS_EVERY_NANOS) {
      written = writeProgress(target);
      looked = System.nanoTime();
    }
    return write(target, commit) || written;
  }

  private boolean writeProgress(EventStream.Target target) throws IOException {
    Progress.Updates news = workers.progressSince(heard);
    heard = news.number();
    boolean written = false;
    for (Progress.Update each : news.jobs()) {
      if (filter.matches(each.job())) {
        write(target, "progress", null, Shapes.of(each));
        written = true;
      }
    }
    return written;
  }

  /** Writes the changes of one commit; the last has its id, so that a resumption misses none. */
  private boolean write(EventStream.Target target, List<JobChange> commit) throws IOException {
    List<JobChange> wanted =
        commit.stream().filter(change -> change.job().map(filter::matches).orElse(true)).toList();
    for (int i = 0; i < wanted.size(); i++) {
      JobChange change = wanted.get(i);
      Position id = i == wanted.size() - 1 ? change.position() : null;
      Job job = change.present();
      if (job == null) {
        write(target, "deleted", id, Json.object().put("id", change.id().toString()));
      } else {
        write(target, "job", id, shapes.of(job));
      }
    }
    return !wanted.isEmpty();
  }

  private static void write(
      EventStream.Target target, String event, @Nullable Position id, ObjectNode data)
      throws IOException {
    target.event(event, id == null ? null : id.toString(), Json.bytes(data));
  }

  @Override
  public void close() {
    changes.close();
  }
}
