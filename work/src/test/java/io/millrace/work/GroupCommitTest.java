package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class GroupCommitTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Wants its number squared. */
  private static final class Square extends GroupCommit.Request<Long> {
    final long number;

    Square(long number) {
      this.number = number;
    }
  }

  private final AtomicInteger inside = new AtomicInteger();
  private final List<List<Long>> commits = new ArrayList<>();
  private final CountDownLatch firstBegun = new CountDownLatch(1);
  private final CountDownLatch firstMayEnd = new CountDownLatch(1);
  private volatile GroupCommit.Committer<Square> committer = this::square;
  private final GroupCommit<Square> group =
      new GroupCommit<>("squares", waiting -> committer.commit(waiting));

  private void square(GroupCommit.Waiting<Square> waiting) {
    assertThat(inside.incrementAndGet()).isEqualTo(1);
    List<Long> commit = new ArrayList<>();
    for (Square each = waiting.take(); each != null; each = waiting.take()) {
      commit.add(each.number);
      each.complete(each.number * each.number);
    }
    commits.add(commit);
    inside.decrementAndGet();
  }

  /** The first commit lasts until the test lets it end. */
  private void slowAtFirst(GroupCommit.Waiting<Square> waiting) {
    if (firstBegun.getCount() > 0) {
      Square first = waiting.take();
      firstBegun.countDown();
      awaitUninterruptibly(firstMayEnd);
      if (first != null) {
        first.complete(0L);
      }
    } else {
      square(waiting);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Thread runs(Square request) {
    return Thread.ofVirtual().start(() -> group.run(request));
  }

  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  @Test
  void a_request_alone_is_committed_by_its_thread() {
    Square request = new Square(7);
    group.run(request);
    assertThat(request.result()).isEqualTo(49);
  }

  @Test
  void requests_that_arrive_during_a_commit_share_the_next() throws Exception {
    committer = this::slowAtFirst;
    Thread first = runs(new Square(1));
    firstBegun.await();
    List<Thread> others = new ArrayList<>();
    for (int i = 2; i <= 5; i++) {
      Thread other = runs(new Square(i));
      awaitParked(other);
      others.add(other);
    }
    firstMayEnd.countDown();
    first.join();
    for (Thread other : others) {
      other.join();
    }
    assertThat(commits).containsExactly(List.of(2L, 3L, 4L, 5L));
  }

  @Test
  void many_threads_each_get_their_own_result() throws Exception {
    List<Thread> threads = new ArrayList<>();
    AtomicInteger right = new AtomicInteger();
    for (int t = 0; t < 16; t++) {
      long begin = 1_000L * t;
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                for (long n = begin; n < begin + 500; n++) {
                  Square request = new Square(n);
                  group.run(request);
                  if (request.result() == n * n) {
                    right.incrementAndGet();
                  }
                }
              }));
    }
    AtomicInteger alone = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      group.exclusively(() -> {
        assertThat(inside.get()).isZero();
        return alone.incrementAndGet();
      });
      Square request = new Square(i);
      group.enqueue(request);
      group.flush();
      assertThat(request.answer()).succeedsWithin(PATIENCE).isEqualTo((long) i * i);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(right).hasValue(16 * 500);
    assertThat(alone).hasValue(100);
  }

  @Test
  void a_request_that_was_only_enqueued_is_committed_after_the_next_one() {
    Square waits = new Square(3);
    group.enqueue(waits);
    assertThat(waits.answer()).isNotDone();
    group.run(new Square(4));
    assertThat(waits.answer()).succeedsWithin(PATIENCE).isEqualTo(9L);
  }

  @Test
  void an_interrupted_thread_still_gets_its_result_and_stays_interrupted() throws Exception {
    committer = this::slowAtFirst;
    Thread first = runs(new Square(1));
    firstBegun.await();
    Square second = new Square(2);
    AtomicInteger interrupted = new AtomicInteger();
    Thread other =
        Thread.ofVirtual()
            .start(() -> {
              group.run(second);
              interrupted.set(Thread.currentThread().isInterrupted() ? 1 : 0);
            });
    awaitParked(other);
    other.interrupt();
    firstMayEnd.countDown();
    first.join();
    other.join();
    assertThat(second.result()).isEqualTo(4);
    assertThat(interrupted).hasValue(1);
  }

  @Test
  void a_commit_that_throws_fails_what_it_has_taken_and_no_other() {
    committer =
        waiting -> {
          var _ = waiting.take();
          committer = this::square;
          throw new ArithmeticException("no squares today");
        };
    Square enqueued = new Square(2);
    Square later = new Square(3);
    group.enqueue(enqueued);
    group.enqueue(later);
    group.flush();
    assertThat(enqueued.answer()).failsWithin(PATIENCE);
    assertThatThrownBy(enqueued::result).isInstanceOf(ArithmeticException.class);
    assertThat(later.answer()).succeedsWithin(PATIENCE).isEqualTo(9L);
  }

  @Test
  void a_commit_that_throws_before_it_takes_any_fails_all() {
    committer =
        _ -> {
          throw new LinkageError("nothing goes");
        };
    Square request = new Square(2);
    group.run(request);
    assertThatThrownBy(request::result)
        .isInstanceOf(IllegalStateException.class)
        .hasCauseInstanceOf(LinkageError.class);
  }

  @Test
  void a_request_that_a_commit_forgets_is_failed() {
    committer =
        waiting -> {
          var _ = waiting.take();
        };
    Square request = new Square(2);
    group.run(request);
    assertThatThrownBy(request::result).hasMessageContaining("left out");
  }
}
