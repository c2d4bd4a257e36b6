package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What callbacks may do, which run on the store's own thread. */
@Timeout(60)
class CallbackTest {
  private static final Owner ME = Owner.client(1);
  private static final Transaction ADD = Transaction.by(ME).add("other", "task").build();

  @TempDir private Path folder;
  private EmbeddedTaskStore store;

  @BeforeEach
  void open() {
    store = TaskStore.open(StoreOptions.in(folder));
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** A claim that is answered once {@link #answer} is called, by the store's thread for sure. */
  private CompletableFuture<Outcome> waiting() {
    Duration hour = Duration.ofHours(1);
    return store.submit(Claim.of(ME, "awaited", hour).withWait(hour));
  }

  private void answer() {
    store.commit(Transaction.by(ME).add("awaited", "").build()).done();
  }

  @Test
  void a_call_that_waits_for_the_store_fails_at_once_and_stops_nobody() throws Exception {
    try (Subscription subscription = store.subscribe(new Interest(null, Set.of("x"), Set.of()))) {
      Map<String, Callable<?>> calls = new LinkedHashMap<>();
      calls.put("commit", () -> store.commit(ADD));
      calls.put("claim", () -> store.claim(Claim.of(ME, "other", Duration.ZERO)));
      calls.put("join", () -> store.submit(ADD).join());
      calls.put("get", () -> store.submit(ADD).get());
      calls.put("timed get", () -> store.submit(ADD).get(1, TimeUnit.HOURS));
      calls.put("join of what follows", () -> store.submit(ADD).thenApply(it -> it).join());
      calls.put("tasks", () -> store.tasks(List.of(TaskRef.id(1))));
      calls.put("task", () -> store.task(TaskRef.id(1)));
      calls.put("group", () -> store.group(GroupQuery.all("other")));
      calls.put("groups", () -> store.groups());
      calls.put("document", () -> store.document(new DocumentKey("c", "k")));
      calls.put("documents", () -> store.documents(DocumentQuery.prefix("c", "")));
      calls.put("subscribe", () -> store.subscribe(Interest.everything()));
      calls.put("next", () -> subscription.next(Duration.ofHours(1)));
      calls.put("status", () -> store.status());
      calls.put("backup", () -> store.backup(OutputStream.nullOutputStream()));
      calls.put("snapshot", () -> quiet(store::requestSnapshot));
      calls.put("digest", () -> store.digest());
      calls.put("close", () -> quiet(store::close));
      for (Map.Entry<String, Callable<?>> call : calls.entrySet()) {
        CompletableFuture<Object> called = waiting().thenApply(_ -> call(call.getValue()));
        answer();
        assertThatThrownBy(called::get)
            .as(call.getKey())
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(IllegalStateException.class)
            .hasMessageContaining("on the store's own thread")
            .hasMessageContaining("use submit");
        store.commit(ADD).done();
      }
    }
  }

  private static Object quiet(Runnable call) {
    call.run();
    return "";
  }

  private static Object call(Callable<?> call) {
    try {
      return call.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void a_callback_may_submit_and_look_at_what_is_there() throws Exception {
    try (Subscription subscription = store.subscribe(Interest.everything())) {
      CompletableFuture<Outcome> chain =
          waiting()
              .thenCompose(_ -> store.submit(ADD))
              .thenCompose(_ -> store.submit(Claim.of(ME, "other", Duration.ZERO)));
      CompletableFuture<Object> looked =
          waiting().thenApply(_ -> call(() -> subscription.next(Duration.ZERO) == null));
      CompletableFuture<Long> ahead = waiting().thenApply(_ -> store.timeAheadMillis());
      answer();
      answer();
      answer();
      assertThat(chain.get().done().tasks()).hasSize(1);
      assertThat(looked.get()).isInstanceOf(Boolean.class);
      assertThat(ahead.get()).isNotNull();
    }
  }

  @Test
  void a_callback_that_runs_elsewhere_may_wait() throws Exception {
    CompletableFuture<Outcome> second = waiting().thenApplyAsync(_ -> store.commit(ADD));
    answer();
    assertThat(second.get().done().tasks()).hasSize(1);
  }
}
