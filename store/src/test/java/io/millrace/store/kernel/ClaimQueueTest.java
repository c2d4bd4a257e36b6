package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The order in which waiting claims are served, expire and leave. */
class ClaimQueueTest {
  private final ClaimQueue waiting = new ClaimQueue();

  private Submission wait(long client, long deadline, int limit, String... groups) {
    Claim claim =
        Claim.of(Owner.client(client), groups[0], Duration.ofMinutes(1))
            .withGroups(List.of(groups))
            .withLimit(limit);
    Submission submission = new Submission(claim, new LoopThread(), _ -> {});
    waiting.add(submission, claim, deadline);
    return submission;
  }

  private List<Long> serve(String group, int tasks) {
    List<Long> served = new ArrayList<>();
    waiting.serve(
        List.of(group),
        _ -> served.size() < tasks,
        waiter -> served.add(waiter.claim().client().client()));
    return served;
  }

  @Test
  void first_come_is_first_served_whatever_the_deadline() {
    wait(1, 300, 0, "a");
    wait(2, 100, 0, "b", "a");
    wait(3, 200, 0, "a");

    assertThat(serve("a", 2)).containsExactly(1L, 2L);
    assertThat(serve("b", 2)).as("who was served through one group").isEmpty();
    assertThat(serve("a", 2)).containsExactly(3L);
    assertThat(waiting.isEmpty()).isTrue();
  }

  @Test
  void a_claim_that_its_limit_keeps_waiting_does_not_keep_the_next_from_being_served() {
    wait(1, 100, 2, "a");
    wait(2, 100, 1, "a");
    wait(3, 100, 5, "a");
    wait(4, 100, 0, "a");
    List<Long> asked = new ArrayList<>();
    waiting.serve(
        List.of("a"),
        _ -> true,
        waiter -> {
          asked.add(waiter.claim().client().client());
          int limit = waiter.claim().whileFewerThan();
          return limit == 0 || limit > 3;
        });
    assertThat(asked)
        .as("a smaller limit than one that failed is hopeless")
        .containsExactly(1L, 3L, 4L);
    assertThat(waiting.size()).isEqualTo(2);
  }

  @Test
  void claims_expire_by_deadline_and_then_in_the_order_in_which_they_came() {
    wait(1, 200, 0, "a");
    wait(2, 100, 0, "a");
    wait(3, 100, 0, "b");
    assertThat(waiting.nextDueMillis()).isEqualTo(100);
    assertThat(waiting.expire(99)).isNull();
    assertThat(List.of(expired(150), expired(150))).containsExactly(2L, 3L);
    assertThat(waiting.expire(150)).isNull();
    assertThat(waiting.nextDueMillis()).isEqualTo(200);
    assertThat(serve("a", 1)).containsExactly(1L);
    assertThat(waiting.nextDueMillis()).isEqualTo(Long.MAX_VALUE);
  }

  private long expired(long nowMillis) {
    return Objects.requireNonNull(waiting.expire(nowMillis)).claim().client().client();
  }

  @Test
  void who_withdraws_is_served_no_more() {
    Submission gone = wait(1, 100, 0, "a", "b");
    wait(2, 100, 0, "b");
    wait(3, 50, 0, "a");
    waiting.cancel(gone);
    waiting.cancel(gone);
    assertThat(serve("b", 9)).containsExactly(2L);
    wait(4, 10, 0, "a");
    assertThat(waiting.drain().stream().map(it -> it.claim().client().client()))
        .containsExactly(3L, 4L);
    assertThat(waiting.isEmpty()).isTrue();
  }

  @Test
  void groups_that_change_together_are_offered_in_the_order_of_arrival() {
    wait(1, 100, 0, "b");
    wait(2, 100, 0, "a", "b");
    List<Long> asked = new ArrayList<>();
    waiting.serve(
        List.of("a", "b"), _ -> true, waiter -> asked.add(waiter.claim().client().client()));
    assertThat(asked).containsExactly(1L, 2L);
  }
}
