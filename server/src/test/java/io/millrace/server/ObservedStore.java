package io.millrace.server;

import io.millrace.store.Command;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.GroupQuery;
import io.millrace.store.GroupSummary;
import io.millrace.store.Interest;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.Subscription;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A store that reports what reaches it: commands, cancelled commands, closed subscriptions. */
class ObservedStore implements TaskStore {
  private final TaskStore store;
  private final Runnable submitted;
  private final Runnable cancelled;
  private final Runnable unsubscribed;

  ObservedStore(TaskStore store, Runnable submitted, Runnable cancelled, Runnable unsubscribed) {
    this.store = store;
    this.submitted = submitted;
    this.cancelled = cancelled;
    this.unsubscribed = unsubscribed;
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    CompletableFuture<Outcome> answer = store.submit(command);
    submitted.run();
    var _ =
        answer.whenComplete((_, _) -> {
          if (answer.isCancelled()) {
            cancelled.run();
          }
        });
    return answer;
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
    Subscription subscription = store.subscribe(interest);
    return new Subscription() {
      @Override
      public Position start() {
        return subscription.start();
      }

      @Override
      public @Nullable Commit next(Duration timeout) throws InterruptedException {
        return subscription.next(timeout);
      }

      @Override
      public void close() {
        subscription.close();
        unsubscribed.run();
      }
    };
  }

  @Override
  public void close() {
    store.close();
  }
}
