package io.millrace.server.jobs;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobFilter;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Workers;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * One client's stream of events. Of progress it writes the last word on each job, as often as the
 * client takes it, so that one that reads slowly misses words in between and nothing piles up. For
 * use by one thread.
 */
final class EventStream {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** How soon an idle stream shows progress, and notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);

  private final Shapes shapes;
  private final Workers workers;
  private final JobFilter filter;
  private final OutputStream target;
  private long heard;
  private boolean pending;

  EventStream(Shapes shapes, Workers workers, JobFilter filter, OutputStream target) {
    this.shapes = shapes;
    this.workers = workers;
    this.filter = filter;
    this.target = target;
  }

  /** Writes what happens until it is over. */
  void run(JobChanges changes, BooleanSupplier over) throws IOException, InterruptedException {
    write("start", changes.start(), Json.object());
    writeProgress();
    target.flush();
    pending = false;
    long written = System.nanoTime();
    long looked = written;
    while (!over.getAsBoolean()) {
      List<JobChange> commit = changes.next(pending ? Duration.ZERO : STEP);
      long now = System.nanoTime();
      if (now - looked >= STEP.toNanos()) {
        writeProgress();
        looked = now;
      }
      if (!commit.isEmpty()) {
        write(commit);
      } else if (pending) {
        target.flush();
        pending = false;
        written = now;
      } else if (now - written > ALIVE_EVERY_NANOS) {
        target.write(ALIVE);
        pending = true;
      }
    }
  }

  /** Says that the place asked for is gone. */
  void lost(PositionLostException e) throws IOException {
    write("lost", null, Json.object().put("reason", e.getMessage()));
  }

  private void writeProgress() throws IOException {
    Progress.Updates news = workers.progressSince(heard);
    heard = news.number();
    for (Progress.Update each : news.jobs()) {
      if (filter.matches(each.job())) {
        write("progress", null, Shapes.of(each));
      }
    }
  }

  /** Writes the changes of one commit; the last has its id, so that a resumption misses none. */
  private void write(List<JobChange> commit) throws IOException {
    List<JobChange> wanted =
        commit.stream().filter(change -> change.job().map(filter::matches).orElse(true)).toList();
    for (int i = 0; i < wanted.size(); i++) {
      JobChange change = wanted.get(i);
      Position id = i == wanted.size() - 1 ? change.position() : null;
      Job job = change.present();
      if (job == null) {
        write("deleted", id, Json.object().put("id", change.id().toString()));
      } else {
        write("job", id, shapes.of(job));
      }
    }
  }

  private void write(String event, @Nullable Position id, ObjectNode data) throws IOException {
    StringBuilder head = new StringBuilder("event: ").append(event).append('\n');
    if (id != null) {
      head.append("id: ").append(id).append('\n');
    }
    target.write(head.append("data: ").toString().getBytes(StandardCharsets.UTF_8));
    target.write(Json.bytes(data));
    target.write('\n');
    target.write('\n');
    pending = true;
  }
}
