package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Watches of documents that have ended when their text is "done" or they are gone. */
@NullMarked
class WatchTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String THINGS = "things";

  private final TaskStore store;
  private final AtomicInteger open = new AtomicInteger();
  private @Nullable RuntimeException readFailure;
  private boolean loseOnce;
  private final Things things = new Things();

  WatchTest(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC));
  }

  @AfterEach
  void close() {
    assertThat(open).as("streams left open").hasValue(0);
    store.close();
  }

  private final class Things implements Watch.Source<String, String> {
    @Override
    public Watch.Changes<String, String> open() {
      open.incrementAndGet();
      Watch.Changes<String, String> changes =
          Watch.documents(store, THINGS, key -> key, document -> document.body().utf8());
      return new Watch.Changes<>() {
        @Override
        public Map<String, @Nullable String> next(Duration timeout, Predicate<String> wanted)
            throws InterruptedException {
          if (loseOnce) {
            loseOnce = false;
            throw new PositionLostException(
                PositionLostException.Why.TOO_SLOW, new Position(1, 1), "too slow");
          }
          return changes.next(timeout, wanted);
        }

        @Override
        public void close() {
          changes.close();
          open.decrementAndGet();
        }
      };
    }

    @Override
    public Map<String, String> read(Collection<String> keys) {
      if (readFailure != null) {
        throw readFailure;
      }
      Map<String, String> found = new HashMap<>();
      for (String key : keys) {
        store
            .document(new DocumentKey(THINGS, key))
            .value()
            .ifPresent(document -> found.put(key, document.body().utf8()));
      }
      return found;
    }

    @Override
    public boolean isOver(@Nullable String state) {
      return state == null || state.equals("done");
    }
  }

  private void put(String key, String text) {
    store
        .commit(
            Transaction.by(Owner.client(1))
                .put(new DocumentKey(THINGS, key), DocumentVersion.ANY, Bytes.of(text))
                .build())
        .done();
  }

  private void delete(String key) {
    store
        .commit(
            Transaction.by(Owner.client(1))
                .delete(new DocumentKey(THINGS, key), DocumentVersion.ANY)
                .build())
        .done();
  }

  @Test
  void it_follows_things_until_all_have_ended() throws Exception {
    put("a", "begun");
    put("b", "begun");
    put("c", "done");
    try (Watch<String, String> watch = Watch.begin(things, List.of("b", "a", "c", "d"))) {
      assertThat(watch.pending()).isEqualTo(2);
      put("a", "half");
      put("other", "done");
      put("a", "done");
      delete("b");
      while (watch.pending() > 0) {
        watch.await(PATIENCE);
      }
      watch.await(PATIENCE);
      assertThat(watch.states().keySet()).containsExactly("b", "a", "c", "d");
      assertThat(watch.states()).containsEntry("a", "done").containsEntry("c", "done");
      assertThat(watch.states().get("b")).isNull();
      assertThat(watch.lastStates()).containsEntry("b", "begun").doesNotContainKey("d");
    }
  }

  @Test
  void after_it_was_too_slow_it_looks_at_all_again() throws Exception {
    put("a", "begun");
    try (Watch<String, String> watch = Watch.begin(things, List.of("a"))) {
      put("a", "done");
      loseOnce = true;
      watch.await(PATIENCE);
      assertThat(watch.pending()).isZero();
    }
  }

  @Test
  void one_that_cannot_begin_leaves_no_stream_open() {
    readFailure = new StoreException("not now");
    assertThatThrownBy(() -> Watch.begin(things, List.of("a")).close()).isSameAs(readFailure);
    assertThat(open).hasValue(0);
  }

  @Test
  void a_shared_one_tells_each_that_follows() {
    put("a", "begun");
    put("b", "begun");
    put("c", "done");
    try (SharedWatch<String, String> watch = new SharedWatch<>("things", things)) {
      CompletableFuture<@Nullable String> a = watch.follow("a");
      CompletableFuture<@Nullable String> b = watch.follow("b");
      assertThat(watch.follow("c")).isCompletedWithValue("done");
      assertThat(watch.follow("d")).isCompletedWithValue(null);
      put("a", "half");
      assertThat(a).isNotDone();
      put("a", "done");
      assertThat(a).succeedsWithin(PATIENCE).isEqualTo("done");
      delete("b");
      assertThat(b).succeedsWithin(PATIENCE).isEqualTo(null);
    }
  }

  @Test
  void a_subscriber_opens_a_new_subscription_when_one_fails() throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    AtomicInteger opened = new AtomicInteger();
    Subscriber.Listener listener =
        new Subscriber.Listener() {
          @Override
          public void opened() {
            heard.add("opened");
            if (opened.incrementAndGet() == 1) {
              throw new StoreException("the first one fails");
            }
          }

          @Override
          public void committed(Commit commit) {
            heard.add("commit of " + commit.changes().size());
          }
        };
    var interest = new Interest(null, Set.of(), Set.of(THINGS));
    try (Subscriber _ = Subscriber.start("things", store, interest, listener)) {
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo("opened");
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo("opened");
      put("a", "begun");
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo("commit of 1");
    }
  }

  @Test
  void documents_are_read_page_by_page() {
    for (int i = 0; i < 5; i++) {
      put("k" + i, "x");
    }
    assertThat(StoreSession.pages(store, THINGS, "k", "k1"))
        .extracting(Document::key)
        .extracting(DocumentKey::key)
        .containsExactly("k2", "k3", "k4");
  }
}
