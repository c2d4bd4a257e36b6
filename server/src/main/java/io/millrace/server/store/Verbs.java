package io.millrace.server.store;

import io.millrace.http.LoopTick;
import io.millrace.http.PendingWait;
import io.millrace.http.PendingWait.ClientGoneException;
import io.millrace.http.Request;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.Response;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Transaction;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Updates and claims. Their errors are lists, as in the original service. */
final class Verbs {
  private static final int MAX_CLAIM_BODY_BYTES = 1 << 20;

  /** A claim that finds a task is answered sooner; only longer waits are worth a watch. */
  private static final long UNWATCHED_MILLIS = 20;

  private final EmbeddedTaskStore store;
  private final int maxParts;

  /** Wakes the store; the same object each time, so that a tick does it once. */
  private final Runnable wake;

  /**
   * The verbs.
   *
   * @param maxParts how many parts of a transaction are read
   */
  Verbs(EmbeddedTaskStore store, int maxParts) {
    this.store = store;
    this.maxParts = maxParts;
    this.wake = store::wake;
  }

  @Nullable AsyncResponse beginUpdate(Request request, LoopTick tick) throws IOException {
    if (!new Permitted(request.caller()).isQuick()) {
      // The check reads the store, which may take longer than an event loop may.
      return null;
    }
    DataForm form = Reads.data(request);
    return asyncResponse(begin(request, transaction(request), tick), form);
  }

  /** Begins a claim that does not wait for tasks. */
  @Nullable AsyncResponse beginClaim(Request request, LoopTick tick) throws IOException {
    if (!new Permitted(request.caller()).isQuick()) {
      return null;
    }
    DataForm form = Reads.data(request);
    Claim claim = claimed(request);
    return claim.waitMillis() > 0 ? null : asyncResponse(begin(request, claim, tick), form);
  }

  private CompletableFuture<Outcome> begin(Request request, Command command, LoopTick tick) {
    tick.atEnd(wake);
    request.submitted();
    return store.enqueue(command);
  }

  private static AsyncResponse asyncResponse(CompletableFuture<Outcome> answer, DataForm form) {
    return AsyncResponse.of(
        answer,
        done -> {
          try {
            return response(done.get(), form);
          } catch (ExecutionException e) {
            throw failure(e);
          } catch (InterruptedException e) {
            throw new IllegalStateException("a done future was waited for", e);
          }
        });
  }

  Response update(Request request) throws IOException {
    DataForm form = Reads.data(request);
    Transaction transaction = transaction(request);
    request.submitted();
    return response(store.commit(transaction), form);
  }

  Response claim(Request request) throws IOException, InterruptedException {
    DataForm form = Reads.data(request);
    Claim claim = claimed(request);
    request.submitted();
    return response(claim.waitMillis() > 0 ? awaited(request, claim) : store.claim(claim), form);
  }

  private Transaction transaction(Request request) throws IOException {
    Permitted permitted = new Permitted(request.caller());
    Transaction transaction = Requests.readTransaction(request.body(), permitted.owner(), maxParts);
    permitted.check(transaction, store);
    return transaction;
  }

  private Claim claimed(Request request) throws IOException {
    Permitted permitted = new Permitted(request.caller());
    Claim claim = Requests.readClaim(request.body(MAX_CLAIM_BODY_BYTES), permitted.owner());
    permitted.check(claim, store);
    return claim;
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
    AtomicBoolean gone = new AtomicBoolean();
    try (PendingWait _ =
        request.beginWait(cause -> {
          gone.set(cause == PendingWait.Cause.CLIENT_GONE);
          answer.cancel(false);
        })) {
      return answer.get();
    } catch (ExecutionException e) {
      throw failure(e);
    } catch (CancellationException e) {
      if (gone.get()) {
        throw new ClientGoneException();
      }
      throw new OutcomeUnknownException(
          "the server is stopping or the credentials were revoked: the claim was withdrawn, or took"
              + " a task that nobody will hear of until its lease ends",
          e);
    } catch (InterruptedException e) {
      answer.cancel(false);
      throw e;
    }
  }

  private static RuntimeException failure(ExecutionException e) {
    return e.getCause() instanceof RuntimeException cause
        ? cause
        : new IllegalStateException("the store failed, the outcome is unknown", e);
  }

  private static Response.Whole response(Outcome outcome, DataForm form) {
    int status = Responses.status(outcome);
    Map<String, String> headers = status == 503 ? Map.of("Retry-After", "1") : Map.of();
    return new Response.Whole(status, Response.JSON, headers, Responses.write(outcome, form));
  }
}
