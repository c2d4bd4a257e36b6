package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class StepLoopTest {
  private static final long PATIENCE_SECONDS = 30;
  private static final Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);

  private final MonotonicClock clock = new MonotonicClock();
  private final BlockingQueue<Instant> steps = new LinkedBlockingQueue<>();

  private Instant next() throws InterruptedException {
    Instant step = steps.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(step).isNotNull();
    return step;
  }

  @Test
  void a_step_is_called_when_it_is_due() throws Exception {
    try (StepLoop _ =
        StepLoop.start(
            "due",
            clock,
            now -> {
              steps.add(now);
              return now.plusMillis(20);
            })) {
      Instant first = next();
      assertThat(next()).isAfterOrEqualTo(first.plusMillis(20));
    }
  }

  @Test
  void waking_calls_the_next_step_at_once() throws Exception {
    try (StepLoop loop =
        StepLoop.start(
            "woken",
            clock,
            now -> {
              steps.add(now);
              return Step.NEVER;
            })) {
      next();
      loop.wake();
      next();
      assertThat(loop.onEnd()).isNotDone();
    }
  }

  @Test
  void a_thread_that_comes_to_itself_early_calls_no_step() throws Exception {
    CompletableFuture<Thread> itself = new CompletableFuture<>();
    Semaphore looks = new Semaphore(0);
    InstantSource counted =
        () -> {
          looks.release();
          return clock.instant();
        };
    try (StepLoop loop =
        StepLoop.start(
            "undisturbed",
            counted,
            now -> {
              itself.complete(Thread.currentThread());
              steps.add(now);
              return now.plus(Duration.ofHours(1));
            })) {
      next();
      // Of the first step and of the wait that follows it.
      looks.acquire(2);
      for (int i = 0; i < 3; i++) {
        LockSupport.unpark(itself.join());
        assertThat(looks.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(steps).isEmpty();
      loop.wake();
      next();
    }
  }

  @Test
  void being_woken_during_a_step_is_not_forgotten() throws Exception {
    CompletableFuture<StepLoop> itself = new CompletableFuture<>();
    try (StepLoop loop =
        StepLoop.start(
            "woken by itself",
            clock,
            now -> {
              if (steps.isEmpty()) {
                itself.join().wake();
              }
              steps.add(now);
              return Step.NEVER;
            })) {
      itself.complete(loop);
      next();
      next();
    }
  }

  @Test
  void an_error_in_a_step_does_not_prevent_the_next() throws InterruptedException {
    CountDownLatch calls = new CountDownLatch(2);
    try (StepLoop _ =
        StepLoop.start(
            "failing",
            clock,
            _ -> {
              calls.countDown();
              if (calls.getCount() > 0) {
                throw new LinkageError("a step");
              }
              return Step.NEVER;
            })) {
      assertThat(calls.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void an_activity_that_is_over_ends_its_loop() {
    StepLoop loop = StepLoop.start("short", clock, _ -> Step.FINISHED);
    assertThat(loop.onEnd()).succeedsWithin(PATIENCE);
    assertThat(loop.close(PATIENCE)).isTrue();
  }

  @Test
  void a_closed_store_ends_it() {
    StepLoop loop =
        StepLoop.start(
            "on a store",
            clock,
            _ -> {
              throw new StoreClosedException("closed");
            });
    assertThat(loop.onEnd()).succeedsWithin(PATIENCE);
    loop.close();
  }

  @Test
  void closing_waits_for_the_step_under_way() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    StepLoop loop =
        StepLoop.start(
            "slow",
            clock,
            now -> {
              begun.countDown();
              try {
                goOn.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              steps.add(now);
              return now;
            });
    begun.await();
    Thread closing = Thread.ofVirtual().start(loop::close);
    assertThat(steps).isEmpty();
    goOn.countDown();
    closing.join();
    int made = steps.size();
    assertThat(made).isPositive();
    assertThat(loop.onEnd()).isDone();
    assertThat(steps).hasSize(made);
  }

  @Test
  void a_step_that_outlasts_the_grace_is_interrupted() {
    CountDownLatch begun = new CountDownLatch(1);
    StepLoop loop =
        StepLoop.start(
            "stuck",
            clock,
            _ -> {
              begun.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException _) {
                throw new IllegalStateException("interrupted");
              }
              return Step.NEVER;
            });
    assertThat(begun).satisfies(latch -> latch.await());
    assertThat(loop.close(Duration.ofMillis(1))).isFalse();
    assertThat(loop.onEnd()).succeedsWithin(PATIENCE);
  }

  @Test
  void a_monotonic_clock_begins_with_the_time_of_day_and_never_goes_back() {
    Instant before = clock.instant();
    assertThat(Duration.between(before, Instant.now()).abs()).isLessThan(PATIENCE);
    assertThat(clock.instant()).isAfterOrEqualTo(before);
  }
}
