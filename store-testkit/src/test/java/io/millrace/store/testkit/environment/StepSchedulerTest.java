package io.millrace.store.testkit.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class StepSchedulerTest {
  private final SimulatedEnvironment environment = new SimulatedEnvironment(7);

  @Test
  void an_activity_runs_at_once_and_then_when_it_asked_to() {
    List<Long> steps = new ArrayList<>();
    environment.drive(
        "ticker",
        () -> {
          steps.add(environment.nanos());
          return 1_000;
        });
    environment.runUntilIdle();
    environment.advance(Duration.ofNanos(2_500));
    assertThat(steps).containsExactly(0L, 1_000L, 2_000L);
    assertThat(environment.nanos()).isEqualTo(2_500);
  }

  @Test
  void a_signal_wakes_an_activity_that_waits_for_one() {
    List<String> steps = new ArrayList<>();
    Driver driver =
        environment.drive(
            "sleeper",
            () -> {
              steps.add("step");
              return Activity.UNTIL_SIGNALLED;
            });
    environment.runUntilIdle();
    environment.advance(Duration.ofDays(1));
    assertThat(steps).hasSize(1);
    driver.signal();
    assertThat(steps).as("the scheduler is eager").hasSize(2);
    environment.scheduler().eager(false);
    driver.signal();
    driver.signal();
    assertThat(steps).hasSize(2);
    environment.runUntilIdle();
    assertThat(steps).as("signals merge").hasSize(3);
  }

  @Test
  void joining_runs_the_others_until_the_activity_is_finished() {
    List<Integer> left = new ArrayList<>(List.of(1, 2, 3));
    environment.scheduler().eager(false);
    Driver driver =
        environment.drive(
            "countdown",
            () -> {
              left.removeLast();
              return left.isEmpty() ? Activity.FINISHED : 5;
            });
    driver.join();
    assertThat(left).isEmpty();
    assertThat(environment.scheduler().idle()).isTrue();
  }

  @Test
  void joining_what_nothing_will_wake_is_an_error_and_not_a_hang() {
    Driver driver = environment.drive("stuck", () -> Activity.UNTIL_SIGNALLED);
    assertThatThrownBy(driver::join).hasMessageContaining("stuck");
  }

  @Test
  void waiting_for_an_answer_runs_what_gives_it() {
    environment.scheduler().eager(false);
    CompletableFuture<String> answer = new CompletableFuture<>();
    environment.drive(
        "answerer",
        () -> {
          answer.complete("here");
          return Activity.FINISHED;
        });
    assertThat(environment.await(answer)).isEqualTo("here");
    assertThatThrownBy(() -> environment.await(new CompletableFuture<String>()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void the_order_is_drawn_from_the_seed() {
    assertThat(order(1)).isEqualTo(order(1));
    assertThat(List.of(order(1), order(2), order(3), order(4))).doesNotHaveDuplicates();
  }

  @Test
  void the_clock_only_moves_when_told_and_the_wall_may_jump() {
    VirtualClock clock = new VirtualClock();
    assertThat(clock.wallMillis()).isEqualTo(VirtualClock.START.toEpochMilli());
    clock.advance(Duration.ofSeconds(1));
    clock.jumpWall(Duration.ofSeconds(-5));
    assertThat(clock.wallMillis()).isEqualTo(VirtualClock.START.toEpochMilli() - 4000);
    assertThat(clock.nanos()).isEqualTo(1_000_000_000);
    assertThatThrownBy(() -> clock.advance(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static List<Integer> order(long seed) {
    StepScheduler scheduler = new StepScheduler(new VirtualClock(), new SplittableRandom(seed));
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int number = i;
      scheduler.drive(
          "activity " + i,
          () -> {
            order.add(number);
            return Activity.FINISHED;
          });
    }
    scheduler.runUntilIdle();
    return order;
  }
}
