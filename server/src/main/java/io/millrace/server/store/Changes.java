package io.millrace.server.store;

import io.millrace.http.Request;
import io.millrace.http.events.CommitEvents;
import io.millrace.http.events.EventStream;
import io.millrace.http.message.Response;
import io.millrace.store.Commit;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.wire.ChangeStream;
import io.millrace.wire.DataForm;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * Streams commits.
 *
 * @param stores the store of a request: the shard that it names, if there are some
 */
record Changes(BiFunction<Request, Interest, TaskStore> stores) {
  Response stream(Request request) {
    DataForm form = Reads.data(request);
    Interest interest =
        new Interest(
            CommitEvents.after(request), names(request, "group"), names(request, "collection"));
    Permitted permitted = new Permitted(request.caller());
    interest.groups().forEach(permitted::checkRead);
    interest.collections().forEach(permitted::checkRead);
    TaskStore store = stores.apply(request, interest);
    return new EventStream(
            () -> new Commits(store, store.subscribe(interest), form, permitted),
            failure -> failure instanceof PositionLostException e ? ChangeStream.write(e) : null)
        .response(request);
  }

  private static Set<String> names(Request request, String parameter) {
    return request.query().texts(parameter).stream()
        .map(text -> Reads.name(parameter, text))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Commits as events. */
  private record Commits(
      TaskStore store, Subscription subscription, DataForm form, Permitted permitted)
      implements EventStream.Source {
    @Override
    public void begin(EventStream.Target target) throws IOException {
      Position start = subscription.start();
      long time = store.tasks(List.of()).timeMillis();
      target.event(ChangeStream.START, start.toString(), Responses.write(start, time));
    }

    @Override
    public boolean next(Duration wait, EventStream.Target target)
        throws IOException, InterruptedException {
      Commit next = subscription.next(wait);
      Commit commit = next == null ? null : permitted.visible(next);
      if (commit == null || commit.changes().isEmpty()) {
        return false;
      }
      target.event(
          ChangeStream.COMMIT, commit.position().toString(), ChangeStream.write(commit, form));
      return true;
    }

    @Override
    public void close() {
      subscription.close();
    }
  }
}
