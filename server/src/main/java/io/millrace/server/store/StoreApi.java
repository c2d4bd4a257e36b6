package io.millrace.server.store;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Reply;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.wire.Answers;
import io.millrace.wire.WireException;
import java.util.List;

/** Mounts the task store under {@code /store}. */
public final class StoreApi {
  private StoreApi() {}

  /**
   * The errors of the verbs: a list, and the kind of refusal where the status tells it. Answers to
   * a transaction or claim that the store refused have the same form.
   */
  private static final ErrorForm LIST =
      problem ->
          new Reply.Whole(
              problem.status(),
              Reply.JSON,
              problem.headers(),
              Answers.writeErrors(
                  problem.message(),
                  switch (problem.status()) {
                    case 400 -> Reason.Kind.MALFORMED;
                    case 413 -> Reason.Kind.TOO_LARGE;
                    default -> null;
                  }));

  /**
   * The routes.
   *
   * @param store the store, which stays the caller's to close
   * @param mostOperations the most parts of a transaction, and the most tasks that one read names
   */
  public static List<Route> routes(EmbeddedTaskStore store, int mostOperations) {
    Reads reads = new Reads(store, mostOperations);
    Verbs verbs = new Verbs(store, mostOperations);
    Changes changes = new Changes(store);
    ApiRoutes api = ApiRoutes.below("/store");
    api.get("/groups", reads::groupNames)
        .get("/group", reads::groupNames)
        .get("/summary", reads::summary)
        .get("/position", reads::position);
    api.query("data", "limit", "owned").get("/group/{group}", reads::group);
    api.query("data")
        .get("/task/{id}", reads::task)
        .get("/tasks/{ids}", reads::tasks)
        .get("/document/{collection}/{key}", reads::document);
    api.query("data").body(Route.Body.JSON).role(Role.VIEWER).post("/tasks", reads::postedTasks);
    api.query("data", "prefix", "after", "limit").get("/documents/{collection}", reads::documents);
    api.query("data", "after", "group", "collection").get("/changes", changes::stream);
    api.role(Role.ADMIN)
        .get("/backup", _ -> Reply.streamed(Reply.BYTES, target -> store.backup(target)));
    api.query("data")
        .body(Route.Body.JSON)
        .errors(LIST)
        .post("/update", verbs::beginUpdate, verbs::update)
        .post("/claim", verbs::beginClaim, verbs::claim);
    return api.routes();
  }

  /** Says what the failures of a store mean to a client. */
  public static void addErrorReplies(ErrorReplies replies) {
    replies
        .add(WireException.TooManyParts.class, 413)
        .add(WireException.class, 400)
        .addUnavailable(StoreClosedException.class)
        .add(OutcomeUnknownException.class, 504)
        .addUnavailable(StoreException.class);
  }
}
