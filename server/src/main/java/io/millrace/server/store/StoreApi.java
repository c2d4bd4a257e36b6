package io.millrace.server.store;

import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Problems;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Routes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.wire.WireException;

/** Mounts the task store under {@code /store}. */
public final class StoreApi {
  private StoreApi() {}

  /**
   * Adds the routes.
   *
   * @param store the store, which stays the caller's to close
   * @param mostOperations the most parts of a transaction, and the most tasks that one read names
   */
  public static void mount(Routes routes, EmbeddedTaskStore store, int mostOperations) {
    Reads reads = new Reads(store, mostOperations);
    Verbs verbs = new Verbs(store, mostOperations);
    Changes changes = new Changes(store);
    routes
        .add(HttpMethod.GET, "/store/groups", reads::groupNames)
        .add(HttpMethod.GET, "/store/group", reads::groupNames)
        .add(HttpMethod.GET, "/store/group/{group}", reads::group)
        .add(HttpMethod.GET, "/store/task/{id}", reads::task)
        .add(HttpMethod.GET, "/store/tasks/{ids}", reads::tasks)
        .add(HttpMethod.POST, "/store/tasks", reads::postedTasks)
        .add(HttpMethod.GET, "/store/summary", reads::summary)
        .add(HttpMethod.GET, "/store/document/{collection}/{key}", reads::document)
        .add(HttpMethod.GET, "/store/documents/{collection}", reads::documents)
        .add(HttpMethod.GET, "/store/position", reads::position)
        .add(
            HttpMethod.GET,
            "/store/backup",
            _ -> Reply.streamed(Reply.BYTES, target -> store.backup(target)))
        .addPrompt("/store/update", verbs::beginUpdate, verbs::update)
        .addPrompt("/store/claim", verbs::beginClaim, verbs::claim)
        .add(HttpMethod.GET, "/store/changes", changes::stream);
  }

  /** Says what the failures of a store mean to those who read. */
  public static void explain(Failures failures) {
    failures
        .add(WireException.class, e -> problem(HttpProblem.malformed(message(e))))
        .add(StoreClosedException.class, e -> problem(HttpProblem.unavailable(message(e), 1)))
        .add(OutcomeUnknownException.class, e -> problem(new HttpProblem(504, message(e))))
        .add(StoreException.class, e -> problem(HttpProblem.unavailable(message(e), 1)));
  }

  private static Reply.Whole problem(HttpProblem problem) {
    return Problems.reply(problem);
  }

  static String message(RuntimeException e) {
    return String.valueOf(e.getMessage());
  }
}
