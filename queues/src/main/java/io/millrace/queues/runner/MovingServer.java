package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server of a runner at the address that the node has told last: a store whose users need not
 * know that the server has moved. Safe for use by any number of threads.
 */
final class MovingServer implements TaskStore {
  private static final Logger LOG = LoggerFactory.getLogger(MovingServer.class);

  private final Connector connector;
  private volatile Connector.Connection now;

  /** A server whose first address is {@code arguments}. */
  MovingServer(Connector connector, List<String> arguments) {
    this.connector = connector;
    this.now = connector.open(arguments);
  }

  /**
   * Moves to a new address. An unchanged one counts too, since the files to which the arguments
   * refer may have changed. If it cannot be used, the server stays at the old one.
   */
  synchronized void moveTo(List<String> arguments) {
    Connector.Connection before = now;
    try {
      now = connector.open(arguments);
    } catch (RuntimeException e) {
      LOG.warn("the server cannot be asked at {}: {}", arguments, e.toString());
      return;
    }
    // A caller that waits for an answer from the old address repeats the call here.
    before.close();
  }

  BlobStore blobs() {
    return now.blobs();
  }

  private TaskStore store() {
    return now.store();
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    return store().submit(command);
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return store().commit(transaction);
  }

  @Override
  public Outcome claim(Claim claim) {
    return store().claim(claim);
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    return store().tasks(refs);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return store().group(query);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return store().groups();
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return store().document(key);
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return store().documents(query);
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return store().subscribe(interest);
  }

  @Override
  public void close() {
    now.close();
  }
}
