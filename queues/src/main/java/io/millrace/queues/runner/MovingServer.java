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
 * The server of a runner, wherever the node last said that it is: a store for those who hold it
 * while the server moves. Safe for use by any number of threads.
 */
final class MovingServer implements TaskStore {
  private static final Logger LOG = LoggerFactory.getLogger(MovingServer.class);

  private final Connector connector;
  private volatile Connector.Connection now;

  /** A server that is at {@code arguments} at first. */
  MovingServer(Connector connector, List<String> arguments) {
    this.connector = connector;
    this.now = connector.open(arguments);
  }

  /**
   * Goes on there. Also if that is no news: the files that the arguments name may have changed. If
   * it cannot be used, it stays where it was.
   */
  synchronized void moveTo(List<String> arguments) {
    Connector.Connection before = now;
    try {
      now = connector.open(arguments);
    } catch (RuntimeException e) {
      LOG.warn("the server cannot be asked at {}: {}", arguments, e.toString());
      return;
    }
    // Who waits for an answer from there would wait for long, and asks again here.
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
