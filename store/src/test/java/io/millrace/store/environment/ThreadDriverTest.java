package io.millrace.store.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadDriverTest {
  private final List<Runnable> ends = new ArrayList<>();

  @AfterEach
  void end() {
    ends.forEach(Runnable::run);
  }

  /** An activity whose steps on the test's thread, and on others, are given by the test. */
  private final class Steps implements Activity {
    private final BlockingQueue<Thread> taken = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<LongSupplier> here = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<LongSupplier> there = new ConcurrentLinkedQueue<>();
    private final Thread caller = Thread.currentThread();
    private final Driver driver;
    private volatile boolean over;

    Steps() throws InterruptedException {
      driver = Environment.system().drive("steps", this);
      ends.add(() -> {
        over = true;
        driver.signal();
        driver.join();
      });
      // The first step is the own thread's.
      assertThat(awaitStep()).isNotEqualTo(Thread.currentThread());
    }

    Thread awaitStep() throws InterruptedException {
      Thread thread = taken.poll(30, TimeUnit.SECONDS);
      assertThat(thread).as("the thread of a step").isNotNull();
      return thread;
    }

    /** Offers this thread until the activity is idle for it. */
    void runHere() throws InterruptedException {
      do {
        driver.runOrSignal();
      } while (!awaitStep().equals(Thread.currentThread()));
    }

    @Override
    public long step() {
      Thread thread = Thread.currentThread();
      // Before the test hears of this step, as it then says what the next one does.
      LongSupplier now = (thread.equals(caller) ? here : there).poll();
      taken.add(thread);
      return over ? FINISHED : now == null ? UNTIL_SIGNALLED : now.getAsLong();
    }
  }

  @Test
  void a_caller_that_is_interrupted_only_signals() throws Exception {
    Steps steps = new Steps();
    Thread.currentThread().interrupt();
    steps.driver.runOrSignal();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(steps.awaitStep()).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void an_activity_hears_of_whatever_its_step_throws_and_is_over() throws Exception {
    CompletableFuture<Throwable> heard = new CompletableFuture<>();
    Error thrown = new StackOverflowError("a step");
    Driver driver =
        Environment.system()
            .drive(
                "failing",
                new Activity() {
                  @Override
                  public long step() {
                    throw thrown;
                  }

                  @Override
                  public void failed(Throwable cause) {
                    heard.complete(cause);
                  }
                });
    assertThat(heard.get(30, TimeUnit.SECONDS)).isSameAs(thrown);
    driver.join();
  }

  @Test
  void a_step_runs_on_the_thread_of_a_caller_that_offers_it_while_nobody_steps() throws Exception {
    Steps steps = new Steps();
    steps.runHere();
    steps.driver.signal();
    assertThat(steps.awaitStep()).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void a_caller_does_not_wait_for_a_step_that_another_thread_runs_and_its_own_follows()
      throws Exception {
    Steps steps = new Steps();
    CountDownLatch hold = new CountDownLatch(1);
    steps.there.add(() -> {
      awaitQuietly(hold);
      return Activity.UNTIL_SIGNALLED;
    });
    steps.driver.signal();
    Thread own = steps.awaitStep();
    steps.driver.runOrSignal();
    assertThat(steps.taken).isEmpty();
    hold.countDown();
    assertThat(steps.awaitStep()).isEqualTo(own);
  }

  @Test
  void what_a_step_on_a_callers_thread_leaves_to_do_is_done_by_the_own_thread() throws Exception {
    Steps steps = new Steps();
    steps.here.add(() -> 0);
    steps.runHere();
    assertThat(steps.awaitStep()).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void a_signal_during_a_step_on_a_callers_thread_is_for_the_own_thread() throws Exception {
    Steps steps = new Steps();
    steps.here.add(() -> {
      steps.driver.signal();
      steps.driver.runOrSignal();
      return Activity.UNTIL_SIGNALLED;
    });
    steps.runHere();
    assertThat(steps.awaitStep()).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void the_own_thread_keeps_the_time_that_a_step_on_a_callers_thread_asks_for() throws Exception {
    Steps steps = new Steps();
    steps.here.add(() -> TimeUnit.HOURS.toNanos(1));
    steps.runHere();
    // Earlier than what the own thread waits for by now.
    steps.here.add(() -> TimeUnit.MILLISECONDS.toNanos(1));
    steps.runHere();
    assertThat(steps.awaitStep()).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void an_activity_can_end_by_a_step_on_a_callers_thread() throws Exception {
    Steps steps = new Steps();
    steps.here.add(() -> {
      steps.driver.join();
      return Activity.FINISHED;
    });
    steps.runHere();
    steps.driver.join();
    steps.driver.signal();
    steps.driver.runOrSignal();
    assertThat(steps.taken).isEmpty();
  }

  @Test
  void no_signal_is_lost_and_no_two_threads_step_at_a_time() throws Exception {
    int threads = 4;
    int messages = 20_000;
    ConcurrentLinkedQueue<CompletableFuture<Void>> sent = new ConcurrentLinkedQueue<>();
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger collisions = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    Driver driver =
        Environment.system()
            .drive(
                "busy",
                () -> {
                  if (inside.incrementAndGet() != 1) {
                    collisions.incrementAndGet();
                  }
                  CompletableFuture<Void> message = sent.poll();
                  if (message != null) {
                    message.complete(null);
                  }
                  inside.decrementAndGet();
                  return over.getCount() == 0
                      ? Activity.FINISHED
                      : sent.isEmpty() ? Activity.UNTIL_SIGNALLED : 0;
                });
    ends.add(() -> {
      over.countDown();
      driver.signal();
      driver.join();
    });
    List<CompletableFuture<Void>> senders = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      boolean offers = i % 2 == 0;
      senders.add(
          CompletableFuture.runAsync(
              () -> {
                for (int n = 0; n < messages; n++) {
                  CompletableFuture<Void> message = new CompletableFuture<>();
                  sent.add(message);
                  if (offers) {
                    driver.runOrSignal();
                  } else {
                    driver.signal();
                  }
                  message.orTimeout(30, TimeUnit.SECONDS).join();
                }
              },
              task -> Thread.ofPlatform().start(task)));
    }
    CompletableFuture.allOf(senders.toArray(CompletableFuture[]::new)).join();
    assertThat(collisions).hasValue(0);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
