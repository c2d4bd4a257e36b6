package io.millrace.http.events;

import io.millrace.http.Request;
import io.millrace.http.events.EventStream.Opener;
import io.millrace.http.events.EventStream.Target;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The common part of all streams of the store's commits: a stream begins with {@code start}, the id
 * of an event is a position of the store, and {@code lost} says why the stream cannot continue.
 */
public final class CommitEvents {
  private CommitEvents() {}

  /**
   * An event for a client.
   *
   * @param name its name
   * @param data its data
   */
  public record Event(String name, ObjectNode data) {}

  /**
   * The position after which the client wants to resume: the header {@code Last-Event-ID}, or else
   * the parameter {@code after}.
   *
   * @return null if the request has neither
   * @throws HttpProblem 400 if it is not a position
   */
  public static @Nullable Position after(Request request) {
    String given =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    try {
      return given == null ? null : Position.parse(given);
    } catch (IllegalArgumentException _) {
      throw HttpProblem.malformed("after must be the id of an event, not " + given);
    }
  }

  /** Answers with a stream of the events of a source. */
  public static Response response(Request request, Opener opener) {
    return new EventStream(opener, CommitEvents::lost).response(request);
  }

  private static byte @Nullable [] lost(RuntimeException failure) {
    return failure instanceof PositionLostException
        ? Json.bytes(Json.object().put("reason", failure.getMessage()))
        : null;
  }

  /** Writes the first event, which says where the stream begins. */
  public static void start(Target target, Position position) throws IOException {
    target.event("start", position.toString(), Json.bytes(Json.object()));
  }

  /**
   * Writes the events of one commit. Only the last one has the commit's position as its id, so that
   * a client that resumes after an event misses none.
   *
   * @param position null for events that are not part of a commit
   * @return whether there were any events
   */
  public static boolean write(Target target, List<Event> events, @Nullable Position position)
      throws IOException {
    for (int i = 0; i < events.size(); i++) {
      String id = position == null || i < events.size() - 1 ? null : position.toString();
      target.event(events.get(i).name(), id, Json.bytes(events.get(i).data()));
    }
    return !events.isEmpty();
  }
}
