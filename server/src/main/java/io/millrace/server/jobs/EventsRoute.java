package io.millrace.server.jobs;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobChanges;
import io.millrace.jobs.JobFilter;
import io.millrace.jobs.Jobs;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The changes of jobs as server-sent events. */
final class EventsRoute {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** How soon an idle stream notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);
  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");

  private final Jobs jobs;
  private final Shapes shapes;

  EventsRoute(Jobs jobs, Shapes shapes) {
    this.jobs = jobs;
    this.shapes = shapes;
  }

  void mount(ApiMount mount) {
    mount.forClients(HttpMethod.GET, "/events", this::stream);
  }

  private Reply stream(Request request) {
    JobFilter filter = Filters.of(request.query());
    Position after = after(request);
    if (request.isHead()) {
      return events(_ -> {});
    }
    try {
      JobChanges changes = jobs.changes(after);
      return events(target -> write(request, changes, filter, target));
    } catch (PositionLostException e) {
      return events(target -> write(target, "lost", null, lost(e)));
    }
  }

  private static Reply events(Reply.Body body) {
    return new Reply.Streamed(200, Reply.EVENTS, HEADERS, -1, body);
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

  private static ObjectNode lost(PositionLostException e) {
    return Json.object().put("reason", e.getMessage());
  }

  private void write(Request request, JobChanges changes, JobFilter filter, OutputStream target)
      throws IOException, InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    try (changes;
        Watch _ = request.watch(_ -> over.set(true))) {
      write(target, "start", changes.start(), Json.object());
      target.flush();
      boolean pending = false;
      long written = System.nanoTime();
      while (!over.get()) {
        List<JobChange> commit = changes.next(pending ? Duration.ZERO : STEP);
        if (!commit.isEmpty()) {
          pending |= write(commit, filter, target);
        } else if (pending) {
          target.flush();
          pending = false;
          written = System.nanoTime();
        } else if (System.nanoTime() - written > ALIVE_EVERY_NANOS) {
          target.write(ALIVE);
          pending = true;
        }
      }
    } catch (PositionLostException e) {
      write(target, "lost", null, lost(e));
    } catch (StoreClosedException _) {
      // The store has gone: the stream simply ends.
    }
  }

  /** Writes the changes of one commit; the last has its id, so that a resumption misses none. */
  private boolean write(List<JobChange> commit, JobFilter filter, OutputStream target)
      throws IOException {
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
      OutputStream target, String event, @Nullable Position id, ObjectNode data)
      throws IOException {
    StringBuilder head = new StringBuilder("event: ").append(event).append('\n');
    if (id != null) {
      head.append("id: ").append(id).append('\n');
    }
    target.write(head.append("data: ").toString().getBytes(StandardCharsets.UTF_8));
    target.write(Json.bytes(data));
    target.write('\n');
    target.write('\n');
  }
}
