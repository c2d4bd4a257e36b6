package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class EventLoopTest {
  @Test
  void a_tick_runs_all_tasks_of_the_loop_and_a_few_of_other_threads() throws Exception {
    EventLoop loop = EventLoop.start("loop-of-a-test");
    try {
      CountDownLatch queued = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(1);
      List<String> order = new ArrayList<>();
      loop.execute(() -> {
        try {
          queued.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        loop.tick().atEnd(() -> order.add("next tick"));
        loop.execute(() -> order.add("own 1"));
        loop.execute(() -> loop.execute(() -> order.add("own 2")));
      });
      for (int i = 2; i <= 10; i++) {
        String name = "other " + i;
        loop.execute(() -> order.add(name));
      }
      loop.execute(done::countDown);
      queued.countDown();
      done.await();
      assertThat(order)
          .containsExactly(
              "own 1",
              "own 2",
              "other 2",
              "other 3",
              "other 4",
              "other 5",
              "other 6",
              "other 7",
              "other 8",
              "next tick",
              "other 9",
              "other 10");
    } finally {
      loop.close();
    }
  }
}
