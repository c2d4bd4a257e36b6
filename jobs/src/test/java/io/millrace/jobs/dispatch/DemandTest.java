package io.millrace.jobs.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.WorkerId;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemandTest {
  private static final WorkerId ONE = new WorkerId("one");
  private static final WorkerId OTHER = new WorkerId("other");

  private final JobDispatcher.Demand demand = new JobDispatcher.Demand();

  @Test
  void a_worker_is_wanted_until_a_look_has_found_nothing() {
    assertThat(demand.wants(ONE)).isTrue();
    demand.exhausted(List.of(ONE), false);
    assertThat(demand.isOpen()).isFalse();
    assertThat(demand.wants(OTHER)).isFalse();
    demand.offered();
    assertThat(demand.wants(ONE)).isTrue();
  }

  @Test
  void a_job_that_has_failed_wants_only_workers_that_have_not_looked() {
    demand.exhausted(List.of(ONE), true);
    assertThat(demand.isOpen()).isTrue();
    assertThat(demand.wants(ONE)).isFalse();
    assertThat(demand.wants(OTHER)).isTrue();
  }

  @Test
  void a_further_failed_job_wants_every_worker_again() {
    demand.exhausted(List.of(ONE), true);
    demand.offeredAgain();
    assertThat(demand.wants(ONE)).isTrue();
  }
}
