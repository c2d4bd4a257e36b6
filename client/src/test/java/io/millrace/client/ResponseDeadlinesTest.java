package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ResponseDeadlines.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ResponseDeadlinesTest {
  private final ResponseDeadlines deadlines = new ResponseDeadlines();

  private Deadline unexpected() {
    return deadlines.of(() -> {
      throw new AssertionError("cut");
    });
  }

  private static void await(CountDownLatch cut) throws InterruptedException {
    assertThat(cut.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void a_deadline_passes_once_though_longer_ones_began_before_it() throws Exception {
    try (Deadline longer = unexpected()) {
      longer.begin(600_000);
      for (int millis : List.of(1, 20, 3)) {
        CountDownLatch cut = new CountDownLatch(1);
        try (Deadline deadline = deadlines.of(cut::countDown)) {
          deadline.begin(millis);
          await(cut);
          assertThat(deadline.hasPassed()).isTrue();
          deadline.end();
          deadline.begin(millis);
          assertThat(deadline.hasPassed()).isTrue();
        }
      }
      assertThat(longer.hasPassed()).isFalse();
    }
  }

  @Test
  void one_that_ended_does_not_pass_though_its_thread_comes_and_goes() throws Exception {
    for (int i = 0; i < 200; i++) {
      CountDownLatch cut = new CountDownLatch(1);
      try (Deadline ended = unexpected();
          Deadline deadline = deadlines.of(cut::countDown)) {
        ended.begin(60_000);
        ended.end();
        deadline.begin(1);
        await(cut);
        assertThat(ended.hasPassed()).isFalse();
      }
    }
  }

  @Test
  void deadlines_that_begin_at_once_on_many_threads_all_pass() throws Exception {
    for (int round = 0; round < 50; round++) {
      CountDownLatch cut = new CountDownLatch(8);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int millis = 1 + i % 3;
        threads.add(Thread.startVirtualThread(() -> deadlines.of(cut::countDown).begin(millis)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      await(cut);
    }
  }
}
