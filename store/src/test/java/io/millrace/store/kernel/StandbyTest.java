package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby of a journal that another process leads, whose first read takes long. */
class StandbyTest {
  private static final String LEADER = "http://leader:8048";
  private final SlowJournal journal = new SlowJournal();
  @TempDir private Path folder;
  private EmbeddedTaskStore leader;

  /** A journal whose reads wait until they are let through, and whose leader is elsewhere. */
  private static final class SlowJournal implements Journal {
    private final MemoryJournal frames = new MemoryJournal();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch through = new CountDownLatch(1);
    private final AtomicInteger reads = new AtomicInteger();
    private volatile boolean vacant;

    @Override
    public long follow(Replay replay, long after) {
      reads.incrementAndGet();
      begun.countDown();
      try {
        through.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return frames.follow(replay, after);
    }

    @Override
    public Pulse pulse() {
      return new Pulse(1, 0, vacant, Duration.ofDays(1), LEADER);
    }

    @Override
    public Leader lead(Replay replay, long after) {
      return frames.lead(replay, after);
    }

    @Override
    public void close() {
      frames.close();
    }
  }

  @BeforeEach
  void lead() {
    leader = TaskStore.open(StoreOptions.in(folder), journal.frames);
  }

  @AfterEach
  void close() {
    leader.close();
  }

  private static void await(CompletableFuture<Void> event) throws Exception {
    event.get(60, TimeUnit.SECONDS);
  }

  private StandbyStore standby() {
    return TaskStore.standby(StoreOptions.in(folder), () -> journal, "http://standby:8048");
  }

  @Test
  void a_standby_follows_once_it_has_read_the_journal_to_its_end() throws Exception {
    StandbyStore standby = standby();
    CompletableFuture<EmbeddedTaskStore> leads = CompletableFuture.supplyAsync(standby::lead);
    assertThat(journal.begun.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(standby.follows()).as("it would read on before it leads").isNotDone();
    assertThat(standby.view()).isEqualTo(new StandbyStore.View(null, LEADER, null));

    journal.through.countDown();
    await(standby.follows());
    assertThat(standby.view().position()).isNotNull();
    standby.close();
    assertThatThrownBy(leads::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(StoreClosedException.class);
  }

  @Test
  void who_asks_during_a_read_waits_for_the_next_one() throws Exception {
    StandbyStore standby = standby();
    CompletableFuture<EmbeddedTaskStore> leads = CompletableFuture.supplyAsync(standby::lead);
    assertThat(journal.begun.await(60, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> asked;
    do {
      // It fails until the thread that has begun the read is known.
      asked = standby.refreshed();
    } while (asked.isCompletedExceptionally());
    CompletableFuture<Integer> reads = asked.thenApply(_ -> journal.reads.get());
    assertThat(reads).isNotDone();

    journal.through.countDown();
    assertThat(reads.get(60, TimeUnit.SECONDS)).isGreaterThan(1);
    standby.close();
    assertThatThrownBy(leads::join).hasCauseInstanceOf(StoreClosedException.class);
  }

  @Test
  void a_standby_leads_without_having_followed_if_nobody_leads_at_the_end_of_its_first_read()
      throws Exception {
    StandbyStore standby = standby();
    CompletableFuture<EmbeddedTaskStore> leads = CompletableFuture.supplyAsync(standby::lead);
    assertThat(journal.begun.await(60, TimeUnit.SECONDS)).isTrue();
    journal.vacant = true;
    journal.through.countDown();
    try (EmbeddedTaskStore next = leads.get(60, TimeUnit.SECONDS)) {
      assertThat(next.groups().value()).isEmpty();
    }
    assertThat(standby.follows()).isNotDone();
    standby.close();
  }
}
