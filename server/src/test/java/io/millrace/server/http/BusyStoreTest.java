package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests to a store for which more commands wait than may. */
@Timeout(120)
final class BusyStoreTest {
  private static final Owner ME = Owner.client(1);
  private static final Transaction ADD = Transaction.by(ME).add("a", "b").build();
  private static final String UPDATE = "{\"clientid\":1,\"adds\":[{\"group\":\"a\"}]}";

  @TempDir private Path folder;
  private @Nullable EmbeddedTaskStore opened;

  private EmbeddedTaskStore open(StoreOptions options) {
    EmbeddedTaskStore store = TaskStore.open(options);
    opened = store;
    return store;
  }

  @Test
  void commands_for_which_there_is_no_room_are_503_with_retry_after() throws Exception {
    try (TestServer server =
        TestServer.with(this::open, folder, "store.max-queued-commands", "100")) {
      EmbeddedTaskStore store = Objects.requireNonNull(opened);
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch stuck = new CountDownLatch(1);
      var _ =
          store
              .submit(Claim.of(ME, "held", Duration.ZERO).withWait(Duration.ofHours(1)))
              .thenRun(() -> hold(held, stuck));
      store.commit(Transaction.by(ME).add("held", "").build()).done();
      held.await();
      List<CompletableFuture<?>> taken = new ArrayList<>();
      for (int i = 0; i < 101; i++) {
        taken.add(store.enqueue(ADD));
      }
      assertThat(taken.getLast()).isCompletedExceptionally();
      busy(server.post("/store/update", UPDATE));
      busy(
          server.post(
              "/store/claim", "{\"clientid\":1,\"group\":\"a\",\"duration\":1,\"wait\":1}"));
      stuck.countDown();
      taken.stream().filter(it -> !it.isCompletedExceptionally()).forEach(CompletableFuture::join);
      assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
    }
  }

  private static void busy(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
    assertThat(response.headers().firstValue("Retry-After")).contains("1");
    assertThat(response.body()).startsWith("{\"errors\":[\"the store is busy: 100 commands or ");
  }

  private static void hold(CountDownLatch held, CountDownLatch stuck) {
    held.countDown();
    try {
      stuck.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
