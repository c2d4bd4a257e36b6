package io.millrace.server.store;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.WireException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The two requests that change something. Their errors have the seed's form: a list. */
final class Verbs {
  private static final int MOST_CLAIM_BODY_BYTES = 1 << 20;

  /** A claim that finds a task is answered sooner; only longer waits are worth a watch. */
  private static final long UNWATCHED_MILLIS = 20;

  private final TaskStore store;

  Verbs(TaskStore store) {
    this.store = store;
  }

  Reply update(Request request) throws IOException, InterruptedException {
    return answer(
        request,
        () -> {
          Transaction transaction = Requests.readTransaction(request.body(), Owner.ANYONE);
          if (transaction.override()) {
            throw new HttpProblem(
                403, "override needs the role admin, and this server knows no roles");
          }
          return store.commit(transaction);
        });
  }

  Reply claim(Request request) throws IOException, InterruptedException {
    return answer(
        request,
        () -> {
          Claim claim = Requests.readClaim(request.body(MOST_CLAIM_BODY_BYTES), Owner.ANYONE);
          return claim.waitMillis() > 0 ? awaited(request, claim) : store.claim(claim);
        });
  }

  /** Waits for the answer to a claim, and withdraws it when the client has gone. */
  private Outcome awaited(Request request, Claim claim) throws InterruptedException {
    CompletableFuture<Outcome> answer = store.submit(claim);
    try {
      return answer.get(UNWATCHED_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw failure(e);
    } catch (TimeoutException _) {
      // Nothing can be claimed now.
    }
    try (Watch _ = request.watch(_ -> answer.cancel(false))) {
      return answer.get();
    } catch (ExecutionException e) {
      throw failure(e);
    } catch (CancellationException e) {
      throw new OutcomeUnknownException(
          "the server is stopping: the claim was withdrawn, or took a task that nobody will hear of"
              + " until its lease ends",
          e);
    } catch (InterruptedException e) {
      answer.cancel(false);
      throw e;
    }
  }

  private static RuntimeException failure(ExecutionException e) {
    return e.getCause() instanceof RuntimeException cause
        ? cause
        : new StoreException("the store failed: " + e.getCause(), e);
  }

  /** Asks the store. */
  private interface Question {
    Outcome ask() throws IOException, InterruptedException;
  }

  private static Reply answer(Request request, Question question)
      throws IOException, InterruptedException {
    try {
      DataForm form = Parameters.data(request);
      Outcome outcome = question.ask();
      int status = Answers.status(outcome);
      return new Reply.Whole(status, Reply.JSON, retry(status), Answers.write(outcome, form));
    } catch (WireException e) {
      return errors(400, StoreApi.message(e));
    } catch (HttpProblem e) {
      return errors(e.status(), e.message());
    } catch (StoreClosedException e) {
      return errors(503, StoreApi.message(e));
    } catch (OutcomeUnknownException e) {
      return errors(504, StoreApi.message(e));
    } catch (StoreException e) {
      return errors(503, StoreApi.message(e));
    }
  }

  private static Reply errors(int status, String message) {
    return new Reply.Whole(
        status, Reply.JSON, retry(status), Answers.writeErrors(List.of(message)));
  }

  private static Map<String, String> retry(int status) {
    return status == 503 ? Map.of("Retry-After", "1") : Map.of();
  }
}
