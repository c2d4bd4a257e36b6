package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DrivenTest {
  @Test
  void an_error_in_a_step_does_not_prevent_the_next() throws InterruptedException {
    CountDownLatch steps = new CountDownLatch(2);
    try (Driven _ =
        Driven.start(
            "failing",
            () -> {
              steps.countDown();
              if (steps.getCount() > 0) {
                throw new LinkageError("a step");
              }
              return 3_600_000;
            })) {
      assertThat(steps.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
