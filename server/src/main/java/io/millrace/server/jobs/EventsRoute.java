package io.millrace.server.jobs;

import io.millrace.jobs.JobFilter;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.Workers;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The changes of jobs, and how far they are, as server-sent events. */
final class EventsRoute {
  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");

  private final Jobs jobs;
  private final Workers workers;
  private final Shapes shapes;

  EventsRoute(Jobs jobs, Workers workers, Shapes shapes) {
    this.jobs = jobs;
    this.workers = workers;
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
      return events(
          target -> run(request, changes, new EventStream(shapes, workers, filter, target)));
    } catch (PositionLostException e) {
      return events(target -> new EventStream(shapes, workers, filter, target).lost(e));
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

  private static void run(Request request, JobChanges changes, EventStream stream)
      throws IOException, InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    try (changes;
        Watch _ = request.watch(_ -> over.set(true))) {
      stream.run(changes, over::get);
    } catch (PositionLostException e) {
      stream.lost(e);
    } catch (StoreClosedException _) {
      // The store has gone: the stream simply ends.
    }
  }
}
