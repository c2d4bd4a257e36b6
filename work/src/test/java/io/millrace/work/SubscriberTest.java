package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Commit;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A subscriber goes on, whatever its listener throws. */
@NullMarked
class SubscriberTest implements Subscriber.Listener {
  private static final String OPENED = "opened";
  private static final String COMMITTED = "committed";

  private final TaskStore store;
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private final AtomicReference<@Nullable Error> atOpening = new AtomicReference<>();
  private final AtomicReference<@Nullable Error> atCommit = new AtomicReference<>();

  SubscriberTest(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC));
  }

  @Override
  public void opened() {
    Error error = atOpening.getAndSet(null);
    if (error != null) {
      throw error;
    }
    heard.add(OPENED);
  }

  @Override
  public void committed(Commit commit) {
    Error error = atCommit.getAndSet(null);
    if (error != null) {
      throw error;
    }
    heard.add(COMMITTED);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Subscriber start() {
    return Subscriber.start(
        "test", store, new Interest(null, Set.of("of interest"), Set.of()), this);
  }

  private void add(String group) {
    var _ = store.commit(Transaction.by(Owner.client(1)).add(group, "data").build()).done();
  }

  private @Nullable String next() throws InterruptedException {
    return heard.poll(30, TimeUnit.SECONDS);
  }

  @Test
  void what_is_of_interest_is_told_and_nothing_else() throws Exception {
    try (Subscriber _ = start()) {
      assertThat(next()).isEqualTo(OPENED);
      add("another");
      add("of interest");
      assertThat(next()).isEqualTo(COMMITTED);
      assertThat(heard).isEmpty();
    }
  }

  @Test
  void an_error_of_the_listener_opens_the_subscription_anew() throws Exception {
    atOpening.set(new LinkageError("at the opening"));
    try (Subscriber _ = start()) {
      assertThat(next()).isEqualTo(OPENED);
      assertThat(atOpening).hasNullValue();
      atCommit.set(new LinkageError("at a commit"));
      add("of interest");
      assertThat(next()).isEqualTo(OPENED);
      assertThat(atCommit).hasNullValue();
      add("of interest");
      assertThat(next()).isEqualTo(COMMITTED);
    }
  }

  @Test
  void nothing_is_told_after_the_close() throws Exception {
    try (Subscriber _ = start()) {
      assertThat(next()).isEqualTo(OPENED);
    }
    add("of interest");
    assertThat(heard).isEmpty();
  }
}
