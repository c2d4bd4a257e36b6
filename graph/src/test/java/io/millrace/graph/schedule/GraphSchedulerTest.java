package io.millrace.graph.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.work.policy.RetryPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.LongNode;
import tools.jackson.databind.node.StringNode;

/** How attempts begin, end, are repeated and killed, with a store that is away at times. */
class GraphSchedulerTest {
  private final World world;

  GraphSchedulerTest(@TempDir Path folder) {
    this.world = new World(folder, 2);
  }

  @Test
  void a_node_begins_once_what_is_above_it_has_ended() {
    NodeId first = world.add();
    NodeId second = world.add(first);
    world.settle();
    assertThat(world.work.begun).extracting(fake -> fake.id).containsExactly(first);

    world.work.begun.getFirst().end(null, null);
    world.settle();

    assertThat(world.work.begun).extracting(fake -> fake.id).containsExactly(first, second);
    assertThat(world.graph.state(first)).isEqualTo(NodeState.FINISHED);
    assertThat(world.graph.state(second)).isEqualTo(NodeState.RUNNING);
  }

  @Test
  void no_more_commands_run_than_there_are_places_and_others_need_none() {
    for (int i = 0; i < 5; i++) {
      world.add();
      world.add(world.quiet, Map.of());
    }
    world.settle();

    assertThat(world.work.begun).hasSize(2);
    assertThat(world.quiet.begun).hasSize(5);
    world.work.begun.getFirst().end(null, null);
    world.settle();
    assertThat(world.work.begun).hasSize(3);
    world.scheduler.places(4);
    world.settle();
    assertThat(world.work.begun).hasSize(5);
  }

  @Test
  void types_take_turns() {
    for (int i = 0; i < 10; i++) {
      world.add();
    }
    world.add(world.condition, Map.of());
    world.settle();

    assertThat(world.condition.begun).hasSize(1);
  }

  @Test
  void a_failed_attempt_is_repeated_after_pauses_that_double() {
    NodeId id = world.add(world.work, World.retries(3, 10));
    world.settle();
    long began = world.nowMillis;
    for (int failures = 1; failures <= 3; failures++) {
      world.work.begun.getLast().end("no luck", null);
      world.pass((10_000L << (failures - 1)) - 1);
      assertThat(world.work.begun).hasSize(failures);
      world.pass(1);
      assertThat(world.work.begun).hasSize(failures + 1);
    }
    assertThat(world.nowMillis - began).isEqualTo(70_000);
    world.work.begun.getLast().end("no luck", null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("no luck");
  }

  @Test
  void a_failure_that_must_not_be_retried_is_final_and_one_that_asks_for_a_delay_gets_it() {
    NodeId id =
        world.add(
            world.work,
            Map.of(
                "attempts", IntNode.valueOf(5), "retry_except", StringNode.valueOf("3,timeout")));
    world.settle();
    RetryPolicy.Failed asks = new RetryPolicy.Failed("2", Duration.ofMinutes(30));
    world.work.begun.getLast().endWith(new Failure.Failed("exit code 2", asks), null);
    world.pass(1_800_000 - 1);
    assertThat(world.work.begun).hasSize(1);
    Phase.Waiting waiting = (Phase.Waiting) world.graph.node(id).phase();
    assertThat(waiting.attempt()).isEqualTo(1);
    assertThat(waiting.notBeforeMillis()).isEqualTo(world.nowMillis + 1);
    assertThat(waiting.reason()).isEqualTo("exit code 2");
    world.pass(1);
    world.work.begun.getLast().endWith(Failure.of("exit code 3", "3"), null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("exit code 3");
    assertThat(world.work.begun).hasSize(2);
  }

  @Test
  void snoozes_and_interruptions_have_limits_of_their_own_and_do_not_count_as_attempts() {
    NodeId id =
        world.add(
            world.work,
            Map.of(
                "retries", IntNode.valueOf(1),
                "snoozes", IntNode.valueOf(2),
                "interruptions", IntNode.valueOf(1)));
    Failure snooze = new Failure.Snoozed(Duration.ofSeconds(20));
    Failure lost = new Failure.Interrupted("it is gone");
    world.settle();
    for (Failure failure : List.of(snooze, lost, snooze)) {
      world.work.begun.getLast().endWith(failure, null);
      world.pass(20_000);
      assertThat(world.graph.state(id)).isEqualTo(NodeState.RUNNING);
    }
    Phase.Attempts attempts = world.graph.node(id).phase().attempts();
    assertThat(attempts.number()).isEqualTo(4);
    assertThat(attempts.interrupted()).isEqualTo(1);
    assertThat(attempts.snoozed()).isEqualTo(2);
    // One more interruption counts as a failure, which is retried once.
    world.work.begun.getLast().endWith(lost, null);
    world.pass(1_000);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.RUNNING);
    world.work.begun.getLast().endWith(snooze, null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("it snoozed more than 2 times");
    world.graph.retry(id);
    world.settle();
    world.work.begun.getLast().end("no luck", null);
    world.settle();
    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
  }

  @Test
  void an_attempt_that_takes_too_long_is_killed_and_has_failed() {
    NodeId id = world.add(world.work, Map.of("timeout", IntNode.valueOf(30)));
    world.settle();
    FakeType.Fake attempt = world.work.begun.getFirst();
    world.pass(29_999);
    assertThat(attempt.kills).isEmpty();
    world.pass(1);
    assertThat(attempt.kills).containsExactly(Kill.DEFAULT);

    attempt.end("exit code 143", null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("timed out after 30 s");
  }

  @Test
  void a_node_starts_at_its_time_or_after_its_delay_which_counts_from_when_it_is_ready() {
    Map<String, JsonNode> at = Map.of("at", LongNode.valueOf(world.nowMillis + 60_000));
    Map<String, JsonNode> delay = Map.of("delay", StringNode.valueOf("30s"));
    NodeId timed = world.add(world.work, at);
    NodeId first = world.add();
    NodeId below = world.add(world.work, delay, first);
    world.pass(20_000);
    assertThat(begun()).containsExactly(first);
    world.work.begun.getFirst().end(null, null);
    world.settle();
    world.restart();
    world.pass(29_999);
    assertThat(begun()).containsExactly(first);
    world.pass(1);
    assertThat(begun()).containsExactly(first, below);
    world.pass(10_000);

    assertThat(begun()).containsExactly(first, below, timed);
  }

  private List<NodeId> begun() {
    return world.work.begun.stream().map(fake -> fake.id).toList();
  }

  @Test
  void a_node_that_waits_too_long_for_its_start_fails_and_may_be_retried() {
    world.add();
    world.add();
    NodeId id =
        world.add(
            world.work,
            Map.of("wait_timeout", StringNode.valueOf("2m"), "retries", IntNode.valueOf(9)));
    NodeId never = world.add(world.work, Map.of("wait_timeout", IntNode.valueOf(1)), id);
    world.pass(119_999);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.READY);
    world.restart();
    world.pass(1);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("it did not start within 2m");
    assertThat(world.graph.state(never)).isEqualTo(NodeState.BLOCKED);

    world.graph.retry(id);
    world.pass(60_000);
    world.work.begun.getFirst().end(null, null);
    world.settle();

    assertThat(begun()).contains(id);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.RUNNING);
  }

  @Test
  void all_attempts_together_with_their_pauses_take_no_longer_than_the_total_timeout() {
    Map<String, JsonNode> limits =
        Map.of(
            "total_timeout", StringNode.valueOf("1m"),
            "timeout", IntNode.valueOf(50),
            "retries", IntNode.valueOf(9),
            "backoff", IntNode.valueOf(40));
    NodeId runs = world.add(world.work, limits);
    NodeId pauses = world.add(world.work, limits);
    world.pass(30_000);
    FakeType.Fake second = world.work.begun.getLast();
    world.work.begun.getFirst().end("no luck", null);
    world.settle();
    assertThat(second.id).isEqualTo(pauses);
    world.pass(20_000);
    // The timeout of the attempt comes first, and its repetition would come too late.
    assertThat(second.kills).containsExactly(Kill.DEFAULT);
    second.end("exit code 143", null);
    world.pass(10_000);
    assertThat(world.graph.state(pauses)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(pauses)).isEqualTo("it took longer than 1m in all");
    assertThat(world.graph.state(runs)).isEqualTo(NodeState.FAILED);

    world.graph.retry(runs);
    world.settle();
    FakeType.Fake again = world.work.begun.getLast();
    world.pass(40_000);
    again.end("no luck", null);
    world.pass(19_999);
    assertThat(world.graph.state(runs)).isEqualTo(NodeState.READY);
    world.pass(1);

    assertThat(world.graph.reason(runs)).isEqualTo("it took longer than 1m in all");
  }

  @Test
  void a_running_attempt_is_killed_when_the_node_has_taken_too_long_in_all() {
    NodeId id =
        world.add(
            world.work,
            Map.of("total_timeout", IntNode.valueOf(60), "retries", IntNode.valueOf(9)));
    world.pass(30_000);
    world.restart();
    world.pass(29_999);
    assertThat(world.work.begun.getFirst().kills).isEmpty();
    world.pass(1);
    assertThat(world.work.begun.getFirst().kills).containsExactly(Kill.DEFAULT);
    world.work.begun.getFirst().end("exit code 143", null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).isEqualTo("it took longer than 1m in all");
  }

  @Test
  void a_kill_is_told_once_and_another_one_too() {
    NodeId id = world.add(world.work, World.retries(5, 0));
    world.settle();
    FakeType.Fake attempt = world.work.begun.getFirst();
    Kill gentle = new Kill("INT", Duration.ofSeconds(60));
    Kill hard = new Kill("KILL", Duration.ZERO);

    world.graph.kill(id, gentle);
    world.settle();
    world.pass(10_000);
    assertThat(attempt.kills).containsExactly(gentle);
    world.graph.kill(id, hard);
    world.settle();
    assertThat(attempt.kills).containsExactly(gentle, hard);
    attempt.end("exit code 137", null);
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.KILLED);
    assertThat(world.work.begun).hasSize(1);
  }

  @Test
  void what_an_earlier_scheduler_was_killing_is_killed_also_if_it_has_ended_meanwhile() {
    NodeId ends = world.add();
    NodeId lives = world.add();
    world.settle();
    world.graph.kill(ends, Kill.DEFAULT);
    world.graph.kill(lives, Kill.DEFAULT);
    world.settle();
    world.scheduler.close();
    FakeType.Fake living = world.work.begun.getLast();
    world.work.begun.getFirst().end("exit code 143", null);
    world.restart();
    world.settle();

    assertThat(world.graph.state(ends)).isEqualTo(NodeState.KILLED);
    assertThat(living.kills).containsExactly(Kill.DEFAULT, Kill.DEFAULT);
    living.end(null, null);
    world.settle();
    assertThat(world.graph.state(lives)).isEqualTo(NodeState.KILLED);
  }

  @Test
  void a_kill_that_comes_before_the_beginning_is_told_after_it() {
    NodeId id = world.add();
    world.step();
    world.graph.kill(id, Kill.DEFAULT);
    world.settle();

    assertThat(world.work.begun.getFirst().kills).containsExactly(Kill.DEFAULT);
  }

  @Test
  void a_type_that_throws_fails_the_attempt_and_nothing_else() {
    NodeId bad = world.add();
    NodeId good = world.add();
    world.work.before =
        work -> {
          if (work.id().equals(bad)) {
            throw new IllegalStateException("there is no disk");
          }
        };
    world.settle();

    assertThat(world.graph.state(bad)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(bad)).isEqualTo("there is no disk");
    assertThat(world.graph.state(good)).isEqualTo(NodeState.RUNNING);
  }

  @Test
  void a_condition_that_chooses_nothing_has_failed() {
    NodeId id = world.add(world.condition, Map.of());
    NodeId chooses = world.add(world.condition, Map.of());
    NodeId then = world.on(Branch.THEN, chooses);
    NodeId otherwise = world.on(Branch.ELSE, chooses);
    world.settle();
    world.condition.begun.forEach(
        fake -> fake.end(null, fake.id.equals(chooses) ? Branch.ELSE : null));
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.state(then)).isEqualTo(NodeState.SKIPPED);
    assertThat(world.graph.state(otherwise)).isEqualTo(NodeState.RUNNING);
  }

  @Test
  void a_store_that_is_away_is_asked_again() {
    NodeId id = world.add();
    world.graph.refusals = 1;
    world.settle();
    assertThat(world.work.begun).isEmpty();
    world.pass(1_000);
    assertThat(world.work.begun).hasSize(1);

    world.graph.refusals = 1;
    world.work.begun.getFirst().end(null, null);
    world.settle();
    assertThat(world.graph.state(id)).isEqualTo(NodeState.RUNNING);
    world.pass(1_000);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.FINISHED);
  }

  @Test
  void an_end_that_cannot_be_stored_holds_up_no_other() {
    NodeId bad = world.add();
    NodeId good = world.add();
    NodeId next = world.add();
    world.settle();
    world.graph.unstorable = bad;
    world.work.begun.forEach(fake -> fake.end(null, null));
    world.pass(999);
    assertThat(world.graph.state(good)).isEqualTo(NodeState.RUNNING);
    assertThat(world.graph.state(next)).isEqualTo(NodeState.RUNNING);
    world.pass(1);
    assertThat(world.graph.state(good)).isEqualTo(NodeState.FINISHED);
    assertThat(world.graph.state(bad)).isEqualTo(NodeState.RUNNING);
    world.graph.unstorable = null;
    world.pass(1_000);

    assertThat(world.graph.state(bad)).isEqualTo(NodeState.FINISHED);
  }

  @Test
  void a_start_whose_answer_was_lost_is_begun_once() {
    NodeId id = world.add();
    world.step();
    world.graph.lostAnswers = 1;
    NodeId other = world.add();
    world.settle();
    assertThat(world.graph.state(other)).isEqualTo(NodeState.RUNNING);
    world.pass(5_000);

    assertThat(world.work.begun).extracting(fake -> fake.id).containsExactly(id, other);
    world.graph.lostAnswers = 1;
    world.work.begun.forEach(fake -> fake.end(null, null));
    world.pass(5_000);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.FINISHED);
    assertThat(world.work.begun).hasSize(2);
  }

  @Test
  void an_attempt_may_end_while_the_kill_is_on_its_way() {
    NodeId id = world.add();
    world.settle();
    world.work.begun.getFirst().end(null, null);
    world.graph.kill(id, Kill.DEFAULT);
    world.settle();

    assertThat(world.work.begun.getFirst().kills).isEmpty();
    assertThat(world.graph.node(id).phase())
        .isInstanceOfSatisfying(
            Phase.Ended.class, end -> assertThat(end.state()).isEqualTo(NodeState.FINISHED));
  }
}
