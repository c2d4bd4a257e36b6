package io.millrace.server.cluster;

import io.millrace.cluster.status.ClusterChanges;
import io.millrace.cluster.status.ClusterChanges.Event;
import io.millrace.cluster.status.ClusterChanges.Kind;
import io.millrace.http.Request;
import io.millrace.http.events.CommitEvents;
import io.millrace.http.events.EventStream;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.Position;
import io.millrace.store.TaskStore;
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/** The changes of a cluster as one client sees them. For use by one thread. */
final class ClusterEvents implements EventStream.Source {
  private final DocumentChanges<Event> changes;

  private ClusterEvents(DocumentChanges<Event> changes) {
    this.changes = changes;
  }

  /** Answers with the stream that a request asks for. */
  static Response response(Request request, TaskStore store) {
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    request.query().texts("type").forEach(type -> kinds.add(kind(type)));
    Set<Kind> told = kinds.isEmpty() ? EnumSet.allOf(Kind.class) : kinds;
    Position after = CommitEvents.after(request);
    Predicate<String> names = ClusterApi.inReach(request);
    return CommitEvents.response(
        request, () -> new ClusterEvents(ClusterChanges.begin(store, told, names, after)));
  }

  private static Kind kind(String type) {
    return Arrays.stream(Kind.values())
        .filter(kind -> kind.text().equals(type))
        .findFirst()
        .orElseThrow(() ->
            HttpProblem.malformed(
                "type must be leader, members, lock, partition or report, not " + type));
  }

  @Override
  public void begin(EventStream.Target target) throws IOException {
    CommitEvents.start(target, changes.start());
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    Changed<Event> commit = changes.next(wait);
    return commit != null
        && CommitEvents.write(
            target,
            commit.events().stream()
                .map(event -> new CommitEvents.Event(event.name(), event.json()))
                .toList(),
            commit.position());
  }

  @Override
  public void close() {
    changes.close();
  }
}
