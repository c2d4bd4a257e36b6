package io.millrace.server.cluster;

import io.millrace.cluster.status.ClusterChanges;
import io.millrace.cluster.status.ClusterChanges.Changed;
import io.millrace.cluster.status.ClusterChanges.Event;
import io.millrace.cluster.status.ClusterChanges.Kind;
import io.millrace.http.EventStream;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The changes of a cluster as one client sees them. For use by one thread. */
final class ClusterEvents implements EventStream.Source {
  private final ClusterChanges changes;

  private ClusterEvents(ClusterChanges changes) {
    this.changes = changes;
  }

  /** Answers with the stream that a request asks for. */
  static Reply reply(Request request, TaskStore store) {
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    request.query().texts("type").forEach(type -> kinds.add(kind(type)));
    Set<Kind> told = kinds.isEmpty() ? EnumSet.allOf(Kind.class) : kinds;
    Position after = after(request);
    return new EventStream(
            () -> new ClusterEvents(ClusterChanges.begin(store, told, after)), ClusterEvents::lost)
        .reply(request);
  }

  private static Kind kind(String type) {
    return Arrays.stream(Kind.values())
        .filter(kind -> kind.text().equals(type))
        .findFirst()
        .orElseThrow(() ->
            HttpProblem.malformed(
                "type must be leader, members, lock, partition or report, not " + type));
  }

  private static @Nullable Position after(Request request) {
    String given =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    try {
      return given == null ? null : Position.parse(given);
    } catch (IllegalArgumentException _) {
      throw HttpProblem.malformed("after must be the id of an event, not " + given);
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
  }

  /** Only the last event of a commit has its id, so that a resumption misses none. */
  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    Changed commit = changes.next(wait);
    if (commit == null) {
      return false;
    }
    List<Event> events = commit.events();
    for (int i = 0; i < events.size(); i++) {
      Event event = events.get(i);
      Position id = i == events.size() - 1 ? commit.position() : null;
      write(target, event.name(), id, event.json());
    }
    return !events.isEmpty();
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
