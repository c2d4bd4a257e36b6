package io.millrace.server.store;

import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.LoopTick;
import io.millrace.http.PendingWait;
import io.millrace.http.PendingWait.ClientGoneException;
import io.millrace.http.Request;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.Response;
import io.millrace.server.shards.ShardedStore;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Updates and claims. Their errors are lists, as in the original service. */
final class Verbs {
  private static final int MAX_CLAIM_BODY_BYTES = 1 << 20;

  /** A claim that finds a task is answered sooner; only longer waits are worth a watch. */
  private static final long UNWATCHED_MILLIS = 20;

  /**
   * Executes a command; throws an exception if this server cannot, before anything else is done
   * about it.
   */
  private final Function<Command, EmbeddedTaskStore> executing;

  /** Wakes the store; the same object each time, so that a tick does it once. */
  private final Runnable wake;

  private final int maxParts;

  /** A command that its caller may give, and the store that executes it. */
  private record Given<C extends Command>(C command, EmbeddedTaskStore store) {}

  /**
   * The verbs of a store.
   *
   * @param check throws an exception for what the store does not take
   * @param maxParts how many parts of a transaction are read
   */
  Verbs(EmbeddedTaskStore store, Consumer<Command> check, int maxParts) {
    this.executing =
        command -> {
          check.accept(command);
          return store;
        };
    this.wake = store::wake;
    this.maxParts = maxParts;
  }

  /** The same of a store with shards, for the commands of those that this server leads. */
  Verbs(ShardedStore store, int maxParts) {
    this.executing = store::led;
    this.wake = store::wake;
    this.maxParts = maxParts;
  }

  @Nullable AsyncResponse beginUpdate(Request request, LoopTick tick) throws IOException {
    if (!new Permitted(request.caller()).isQuick()) {
      // The check reads the store, which may take longer than an event loop may.
      return null;
    }
    DataForm form = Reads.data(request);
    Given<Transaction> given = transaction(request);
    Transaction transaction = given.command();
    if (transaction.override()) {
      // It is recorded before it is answered, which takes a thread.
      return null;
    }
    return asyncResponse(
        begin(request, given, tick), outcome -> note(request, transaction, outcome), form);
  }

  /** Begins a claim that does not wait for tasks. */
  @Nullable AsyncResponse beginClaim(Request request, LoopTick tick) throws IOException {
    if (!new Permitted(request.caller()).isQuick()) {
      return null;
    }
    DataForm form = Reads.data(request);
    Given<Claim> given = claimed(request);
    return given.command().waitMillis() > 0
        ? null
        : asyncResponse(begin(request, given, tick), outcome -> note(request, outcome), form);
  }

  private CompletableFuture<Outcome> begin(Request request, Given<?> given, LoopTick tick) {
    tick.atEnd(wake);
    request.submitted();
    return given.store().enqueue(given.command());
  }

  private static AsyncResponse asyncResponse(
      CompletableFuture<Outcome> pending, Consumer<Outcome> whenDone, DataForm form) {
    return AsyncResponse.of(
        pending,
        done -> {
          try {
            Outcome outcome = done.get();
            whenDone.accept(outcome);
            return response(outcome, form);
          } catch (ExecutionException e) {
            throw failure(e);
          } catch (InterruptedException e) {
            throw new IllegalStateException("a done future was waited for", e);
          }
        });
  }

  Response update(Request request) throws IOException {
    DataForm form = Reads.data(request);
    Given<Transaction> given = transaction(request);
    Transaction transaction = given.command();
    if (transaction.override()) {
      request.actsAs("store.override");
    }
    request.submitted();
    Outcome outcome = given.store().commit(transaction);
    note(request, transaction, outcome);
    return response(outcome, form);
  }

  Response claim(Request request) throws IOException, InterruptedException {
    DataForm form = Reads.data(request);
    Given<Claim> given = claimed(request);
    Claim claim = given.command();
    request.submitted();
    Outcome outcome = claim.waitMillis() > 0 ? awaited(request, given) : given.store().claim(claim);
    note(request, outcome);
    return response(outcome, form);
  }

  /** Notes for the audit log which tasks were claimed. */
  private static void note(Request request, Outcome outcome) {
    if (outcome instanceof Outcome.Done done) {
      noteTasks(request, done.tasks().size(), done.tasks());
    }
  }

  /** Notes tasks that were changed, by their origins, and their group if that is one. */
  private static void noteTasks(Request request, int count, List<Task> tasks) {
    if (tasks.isEmpty()) {
      request.changed(count, null, null);
      return;
    }
    request.changed(
        count, Long.toString(tasks.getFirst().origin()), Long.toString(tasks.getLast().origin()));
    String group = tasks.getFirst().group();
    for (Task task : tasks) {
      if (!task.group().equals(group)) {
        return;
      }
    }
    request.concerns(Area.GROUPS, group);
  }

  /** Notes for the audit log what a transaction has changed. */
  private static void note(Request request, Transaction transaction, Outcome outcome) {
    if (!(outcome instanceof Outcome.Done done)) {
      return;
    }
    int documents = transaction.puts().size() + transaction.documentDeletes().size();
    int deletes = transaction.deletes().size();
    if (documents + deletes == 0) {
      noteTasks(request, done.tasks().size(), done.tasks());
      return;
    }
    // The groups of deleted tasks are not known here, nor is there one for tasks and documents.
    // Documents have names that say more than the numbers of tasks.
    long count = done.tasks().size() + (long) deletes + documents;
    if (documents == 0) {
      request.changed(
          count, id(transaction.deletes().getFirst()), id(transaction.deletes().getLast()));
      return;
    }
    List<DocumentKey> keys = new ArrayList<>(documents);
    transaction.puts().forEach(put -> keys.add(put.key()));
    transaction.documentDeletes().forEach(deleted -> keys.add(deleted.key()));
    request.changed(count, keys.getFirst().key(), keys.getLast().key());
    String collection = keys.getFirst().collection();
    if (deletes == 0
        && keys.stream().allMatch(key -> key.collection().equals(collection))
        && done.tasks().stream().allMatch(task -> task.group().equals(collection))) {
      request.concerns(Area.GROUPS, collection);
    }
  }

  private static String id(TaskRef task) {
    return Long.toString(task.origin() > 0 ? task.origin() : task.id());
  }

  private Given<Transaction> transaction(Request request) throws IOException {
    Permitted permitted = new Permitted(request.caller());
    Transaction transaction = Requests.readTransaction(request.body(), permitted.owner(), maxParts);
    EmbeddedTaskStore store = executing.apply(transaction);
    permitted.check(transaction, store);
    return new Given<>(transaction, store);
  }

  private Given<Claim> claimed(Request request) throws IOException {
    Permitted permitted = new Permitted(request.caller());
    Claim claim = Requests.readClaim(request.body(MAX_CLAIM_BODY_BYTES), permitted.owner());
    EmbeddedTaskStore store = executing.apply(claim);
    permitted.check(claim, store);
    return new Given<>(claim, store);
  }

  /** Waits for the result of a claim, and withdraws the claim when the client has gone. */
  private Outcome awaited(Request request, Given<Claim> given) throws InterruptedException {
    CompletableFuture<Outcome> pending = given.store().submit(given.command());
    try {
      return pending.get(UNWATCHED_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw failure(e);
    } catch (TimeoutException _) {
      // Nothing can be claimed now.
    }
    AtomicBoolean gone = new AtomicBoolean();
    try (PendingWait _ =
        request.beginWait(cause -> {
          gone.set(cause == PendingWait.Cause.CLIENT_GONE);
          pending.cancel(false);
        })) {
      Outcome outcome = pending.get();
      if (gone.get()) {
        giveBack(given, outcome);
        throw new ClientGoneException();
      }
      return outcome;
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
      pending.cancel(false);
      throw e;
    }
  }

  /**
   * Releases what a claim took although its client was gone: it was decided before it could be
   * withdrawn. A client with a request id may ask again for the answer.
   */
  private static void giveBack(Given<Claim> given, Outcome outcome) {
    Claim claim = given.command();
    if (claim.requestId() == null
        && outcome instanceof Outcome.Done done
        && !done.tasks().isEmpty()) {
      Transaction.Builder release = Transaction.by(claim.client());
      done.tasks().forEach(task -> release.update(task.ref(), null, Transaction.When.now()));
      Outcome _ = given.store().commit(release.build());
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
