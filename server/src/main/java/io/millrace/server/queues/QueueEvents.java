package io.millrace.server.queues;

import io.millrace.http.Request;
import io.millrace.http.events.CommitEvents;
import io.millrace.http.events.EventStream;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.ObjectId;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.Queues.Event;
import io.millrace.queues.registry.Queues.Kind;
import io.millrace.queues.search.Projection;
import io.millrace.queues.search.TaskFinder.Found;
import io.millrace.server.queues.Shapes.Times;
import io.millrace.store.Position;
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The changes of queues, tasks and nodes as one client sees them. For use by one thread. */
record QueueEvents(DocumentChanges<Event> changes, Set<ObjectId> wanted, QueueReach reach)
    implements EventStream.Source {
  static void addTo(DciRoutes api, Queues queues, QueueRoutes known) {
    api.limitable()
        .getRaw("/events", request -> response(request, queues, known), "queue", "type", "after");
  }

  private static Response response(Request request, Queues queues, QueueRoutes known) {
    Set<ObjectId> wanted = new HashSet<>();
    request.query().texts("queue").forEach(queue -> wanted.add(known.find(request, queue).id()));
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    request.query().texts("type").forEach(type -> kinds.add(kind(type)));
    Set<Kind> told = kinds.isEmpty() ? EnumSet.allOf(Kind.class) : kinds;
    Position after = CommitEvents.after(request);
    QueueReach reach = known.reach(request);
    return CommitEvents.response(
        request, () -> new QueueEvents(queues.changes(told, after), wanted, reach));
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

  @Override
  public void begin(EventStream.Target target) throws IOException {
    CommitEvents.start(target, changes.start());
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    Changed<Event> commit = changes.next(wait);
    if (commit == null) {
      return false;
    }
    List<CommitEvents.Event> events =
        commit.events().stream()
            .filter(this::isWanted)
            .map(event -> shape(event, commit.timeMillis()))
            .toList();
    return CommitEvents.write(target, events, commit.position());
  }

  private static CommitEvents.Event shape(Event event, long timeMillis) {
    return switch (event) {
      case Event.OfQueue(var queue) -> new CommitEvents.Event("queue", Shapes.of(queue));
      case Event.OfTask(var task) ->
          new CommitEvents.Event(
              "task",
              Shapes.of(new Found(task, false), Shapes.terse(), Times.MILLIS, Projection.ALL));
      case Event.OfNode(var node) -> new CommitEvents.Event("node", Shapes.of(node, timeMillis));
      case Event.Deleted(Kind kind, String gone) ->
          new CommitEvents.Event("deleted", Json.object().put("type", name(kind)).put("id", gone));
    };
  }

  private boolean isWanted(Event event) {
    return (reach.isUnlimited() || isReached(event)) && isNamed(event);
  }

  /** Nodes, and deleted documents, of which the queue is not known any more, are out of reach. */
  private boolean isReached(Event event) {
    return switch (event) {
      case Event.OfQueue(var queue) -> reach.includes(queue);
      case Event.OfTask(var task) -> reach.includes(task);
      case Event.OfNode _, Event.Deleted _ -> false;
    };
  }

  private boolean isNamed(Event event) {
    return wanted.isEmpty()
        || switch (event) {
          case Event.OfQueue(var queue) -> wanted.contains(queue.id());
          case Event.OfTask(var task) -> wanted.contains(task.queue());
          case Event.OfNode _, Event.Deleted _ -> true;
        };
  }

  @Override
  public void close() {
    changes.close();
  }
}
