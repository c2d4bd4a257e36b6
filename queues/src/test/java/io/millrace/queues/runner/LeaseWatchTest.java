package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.runner.RunnerSlot.LeaseWatch;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseWatchTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final long SECOND = 1_000_000_000L;

  private final LeaseWatch hold = new LeaseWatch();

  @Test
  void a_runner_may_be_silent_until_shortly_before_its_claim_ends() {
    hold.begin(LEASE, -7 * SECOND);
    assertThat(hold.isOver(290 * SECOND)).isFalse();
    assertThat(hold.isOver(291 * SECOND)).isTrue();
  }

  @Test
  void a_renewal_counts_from_then_on() {
    hold.begin(LEASE, 0);
    hold.begin(LEASE, 100 * SECOND);
    assertThat(hold.isOver(397 * SECOND)).isFalse();
    assertThat(hold.isOver(398 * SECOND)).isTrue();
  }

  @Test
  void a_runner_whose_work_has_ended_may_be_silent_for_ever() {
    assertThat(hold.isOver(Long.MAX_VALUE)).isFalse();
    hold.begin(LEASE, 0);
    hold.end();
    assertThat(hold.isOver(Long.MAX_VALUE)).isFalse();
  }
}
