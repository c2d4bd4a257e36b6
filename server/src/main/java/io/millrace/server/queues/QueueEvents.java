package io.millrace.server.queues;

import io.millrace.http.EventStream;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueChanges;
import io.millrace.queues.QueueChanges.Changed;
import io.millrace.queues.QueueChanges.Event;
import io.millrace.queues.QueueChanges.Kind;
import io.millrace.queues.Queues;
import io.millrace.queues.search.ArchiveSearch.Found;
import io.millrace.queues.search.Projection;
import io.millrace.server.queues.Shapes.Times;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The changes of queues, tasks and nodes as one client sees them. For use by one thread. */
final class QueueEvents implements EventStream.Source {
  private final QueueChanges changes;
  private final Set<ObjectId> wanted;

  private QueueEvents(QueueChanges changes, Set<ObjectId> wanted) {
    this.changes = changes;
    this.wanted = wanted;
  }

  /** Adds the route of the stream. */
  static void addTo(DciRoutes api, Queues queues, QueueRoutes known) {
    api.getRaw("/events", request -> reply(request, queues, known), "queue", "type", "after");
  }

  private static Reply reply(Request request, Queues queues, QueueRoutes known) {
    Set<ObjectId> wanted = new HashSet<>();
    request.query().texts("queue").forEach(queue -> wanted.add(known.find(queue).id()));
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    request.query().texts("type").forEach(type -> kinds.add(kind(type)));
    Set<Kind> told = kinds.isEmpty() ? EnumSet.allOf(Kind.class) : kinds;
    Position after = after(request);
    return new EventStream(
            () -> new QueueEvents(queues.changes(told, after), wanted), QueueEvents::lost)
        .reply(request);
  }

  private static Kind kind(String type) {
    return Arrays.stream(Kind.values())
        .filter(kind -> name(kind).equals(type))
        .findFirst()
        .orElseThrow(() -> Refusal.of("type must be queue, task or node", "type", type));
  }

  private static String name(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private static @Nullable Position after(Request request) {
    String given =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    try {
      return given == null ? null : Position.parse(given);
    } catch (IllegalArgumentException _) {
      throw Refusal.of("after must be the id of an event", "after", given);
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
    List<Event> events = commit.events().stream().filter(this::isWanted).toList();
    for (int i = 0; i < events.size(); i++) {
      Position id = i == events.size() - 1 ? commit.position() : null;
      switch (events.get(i)) {
        case Event.OfQueue(var queue) -> write(target, "queue", id, Shapes.of(queue));
        case Event.OfTask(var task) -> {
          Found found = new Found(task, false);
          write(target, "task", id, Shapes.of(found, Shapes.terse(), Times.MILLIS, Projection.ALL));
        }
        case Event.OfNode(var node) ->
            write(target, "node", id, Shapes.of(node, commit.timeMillis()));
        case Event.Deleted(Kind kind, String gone) ->
            write(target, "deleted", id, Json.object().put("type", name(kind)).put("id", gone));
      }
    }
    return !events.isEmpty();
  }

  private boolean isWanted(Event event) {
    return wanted.isEmpty()
        || switch (event) {
          case Event.OfQueue(var queue) -> wanted.contains(queue.id());
          case Event.OfTask(var task) -> wanted.contains(task.queue());
          case Event.OfNode _, Event.Deleted _ -> true;
        };
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
