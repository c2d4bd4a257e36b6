package io.millrace.store.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadDriverTest {
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
}
