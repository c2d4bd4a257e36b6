package io.millrace.server;

import io.millrace.http.Request;
import io.millrace.server.audit.RequestAudit;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The store for the layers. It notes on a request that a command was submitted on its thread, so
 * that a later failure of the server is not reported as if nothing had changed.
 *
 * @param store the store itself
 * @param audit adds entries of the audit log to the transactions of requests; null if the layer
 *     commits changes of one request on the threads of others, so that they have entries after them
 */
record RequestStore(TaskStore store, @Nullable RequestAudit audit) implements TaskStore {
  @Override
  public Ids ids() {
    return store.ids();
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    Request.noteSubmission();
    return store.submit(command);
  }

  @Override
  public Outcome commit(Transaction transaction) {
    Request.noteSubmission();
    return audit == null ? store.commit(transaction) : audit.commit(store, transaction);
  }

  @Override
  public Outcome claim(Claim claim) {
    Request.noteSubmission();
    return store.claim(claim);
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    return store.tasks(refs);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return store.group(query);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return store.groups();
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return store.document(key);
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return store.documents(query);
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return store.subscribe(interest);
  }

  @Override
  public void close() {
    store.close();
  }
}
