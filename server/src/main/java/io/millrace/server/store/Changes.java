package io.millrace.server.store;

import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import io.millrace.store.Commit;
import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import io.millrace.wire.Stream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The stream of commits as server-sent events. */
final class Changes {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** How soon an idle stream notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);
  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");

  private final TaskStore store;

  Changes(TaskStore store) {
    this.store = store;
  }

  Reply stream(Request request) {
    DataForm form = Parameters.data(request);
    Interest interest =
        new Interest(after(request), names(request, "group"), names(request, "collection"));
    if (request.isHead()) {
      return events(_ -> {});
    }
    try {
      Subscription subscription = store.subscribe(interest);
      return events(target -> write(request, subscription, form, target));
    } catch (PositionLostException e) {
      return events(target -> write(target, Stream.LOST, null, Stream.write(e)));
    }
  }

  private static Set<String> names(Request request, String parameter) {
    return request.query().texts(parameter).stream()
        .map(text -> Parameters.name(parameter, text))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Reply events(Reply.Body body) {
    return new Reply.Streamed(200, Reply.EVENTS, HEADERS, -1, body);
  }

  private static @Nullable Position after(Request request) {
    String last = request.header("Last-Event-ID").orElse(null);
    if (last != null) {
      return Parameters.position("the header Last-Event-ID", last);
    }
    return request
        .query()
        .text("after")
        .map(text -> Parameters.position("the parameter after", text))
        .orElse(null);
  }

  private void write(Request request, Subscription subscription, DataForm form, OutputStream target)
      throws IOException, InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    try (subscription;
        Watch _ = request.watch(_ -> over.set(true))) {
      Position start = subscription.start();
      long time = store.tasks(List.of()).timeMillis();
      write(target, Stream.START, start, Answers.write(start, time));
      target.flush();
      boolean pending = false;
      long written = System.nanoTime();
      while (!over.get()) {
        Commit commit = subscription.next(pending ? Duration.ZERO : STEP);
        if (commit != null) {
          write(target, Stream.COMMIT, commit.position(), Stream.write(commit, form));
          pending = true;
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
      write(target, Stream.LOST, null, Stream.write(e));
    } catch (StoreClosedException _) {
      // The store has gone: the stream simply ends.
    }
  }

  private static void write(OutputStream target, String event, @Nullable Position id, byte[] data)
      throws IOException {
    StringBuilder head = new StringBuilder("event: ").append(event).append('\n');
    if (id != null) {
      head.append("id: ").append(id).append('\n');
    }
    target.write(head.append("data: ").toString().getBytes(StandardCharsets.UTF_8));
    target.write(data);
    target.write('\n');
    target.write('\n');
  }
}
