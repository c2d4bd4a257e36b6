package io.millrace.server.store;

import io.millrace.server.http.ClientGoneException;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Later;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Round;
import io.millrace.server.http.Watch;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.TooManyPartsException;
import io.millrace.wire.WireException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The two requests that change something. Their errors have the seed's form: a list. */
final class Verbs {
  private static final int MOST_CLAIM_BODY_BYTES = 1 << 20;

  /** A claim that finds a task is answered sooner; only longer waits are worth a watch. */
  private static final long UNWATCHED_MILLIS = 20;

  private final EmbeddedTaskStore store;
  private final int mostParts;

  /** Wakes the store; the same object each time, so that a round does it once. */
  private final Runnable wake;

  /**
   * The verbs.
   *
   * @param mostParts how many parts of a transaction are read
   */
  Verbs(EmbeddedTaskStore store, int mostParts) {
    this.store = store;
    this.mostParts = mostParts;
    this.wake = store::wake;
  }

  /** Begins an update. */
  Later beginUpdate(Request request, Round round) throws IOException {
    DataForm form = Parameters.data(request);
    return later(begin(request, transaction(request), round), form);
  }

  /** Begins a claim that does not wait for tasks. */
  @Nullable Later beginClaim(Request request, Round round) throws IOException {
    DataForm form = Parameters.data(request);
    Claim claim = claimed(request);
    return claim.waitMillis() > 0 ? null : later(begin(request, claim, round), form);
  }

  private CompletableFuture<Outcome> begin(Request request, Command command, Round round) {
    round.atEnd(wake);
    request.submitted();
    return store.enqueue(command);
  }

  private static Later later(CompletableFuture<Outcome> answer, DataForm form) {
    return Later.of(
        answer,
        done -> {
          try {
            return reply(done.get(), form);
          } catch (ExecutionException e) {
            return problem(failure(e));
          } catch (InterruptedException e) {
            throw new IllegalStateException("a done future was waited for", e);
          }
        });
  }

  Reply update(Request request) throws IOException, InterruptedException {
    return answer(
        request,
        () -> {
          Transaction transaction = transaction(request);
          request.submitted();
          return store.commit(transaction);
        });
  }

  Reply claim(Request request) throws IOException, InterruptedException {
    return answer(
        request,
        () -> {
          Claim claim = claimed(request);
          request.submitted();
          return claim.waitMillis() > 0 ? awaited(request, claim) : store.claim(claim);
        });
  }

  private Transaction transaction(Request request) throws IOException {
    Transaction transaction = Requests.readTransaction(request.body(), Owner.ANYONE, mostParts);
    if (transaction.override()) {
      throw new HttpProblem(403, "override needs the role admin, and this server knows no roles");
    }
    return transaction;
  }

  private static Claim claimed(Request request) throws IOException {
    return Requests.readClaim(request.body(MOST_CLAIM_BODY_BYTES), Owner.ANYONE);
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
    try (Watch _ =
        request.watch(cause -> {
          gone.set(cause == Watch.Cause.CLIENT_GONE);
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
        : new IllegalStateException("the store failed, the outcome is unknown", e);
  }

  /** Asks the store. */
  private interface Question {
    Outcome ask() throws IOException, InterruptedException;
  }

  private static Reply answer(Request request, Question question)
      throws IOException, InterruptedException {
    try {
      DataForm form = Parameters.data(request);
      return reply(question.ask(), form);
    } catch (RuntimeException e) {
      return problem(e);
    }
  }

  private static Reply.Whole reply(Outcome outcome, DataForm form) {
    int status = Answers.status(outcome);
    return new Reply.Whole(status, Reply.JSON, retry(status), Answers.write(outcome, form));
  }

  /** What a failure means to the client; those without a meaning go on. */
  private static Reply.Whole problem(RuntimeException failure) {
    return switch (failure) {
      case TooManyPartsException e -> errors(413, StoreApi.message(e));
      case WireException e -> errors(400, StoreApi.message(e));
      case HttpProblem e -> errors(e.status(), e.message());
      case StoreClosedException e -> errors(503, StoreApi.message(e));
      case OutcomeUnknownException e -> errors(504, StoreApi.message(e));
      case StoreException e -> errors(503, StoreApi.message(e));
      default -> throw failure;
    };
  }

  private static Reply.Whole errors(int status, String message) {
    Reason.Kind kind =
        switch (status) {
          case 400 -> Reason.Kind.MALFORMED;
          case 413 -> Reason.Kind.TOO_LARGE;
          default -> null;
        };
    return new Reply.Whole(status, Reply.JSON, retry(status), Answers.writeErrors(message, kind));
  }

  private static Map<String, String> retry(int status) {
    return status == 503 ? Map.of("Retry-After", "1") : Map.of();
  }
}
