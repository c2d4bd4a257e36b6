package io.millrace.jobs.registry;

import static io.millrace.jobs.registry.JobsFixture.A;
import static io.millrace.jobs.registry.JobsFixture.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.SharedLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys, priorities and limits of jobs, over any store. */
public abstract class JobLimitsContract {
  private static final Jobs.Options OPTIONS = new Jobs.Options(100, 3, 5, Duration.ofSeconds(60));
  private static final Owner OTHER = Owner.client(99);

  private StoreFixture store;
  private Path folder;
  private JobsFixture world;

  /** An empty store. */
  protected abstract StoreFixture open();

  @BeforeEach
  void begin(@TempDir Path temporary) {
    store = open();
    folder = temporary;
  }

  @AfterEach
  void end() {
    store.close();
  }

  /** Opens the registry with one type. */
  private void type(String settings) {
    types(new JobType("t", null, null, policy(settings)));
  }

  private void types(JobType... types) {
    world = new JobsFixture(store, folder, JobTypes.of(List.of(types)), OPTIONS);
  }

  private static Policy policy(String settings) {
    return settings.isEmpty() ? Policy.NONE : Policy.parse(settings);
  }

  private Job submit(String key, String settings) {
    return submit(key, Priority.BATCH, settings, "{}");
  }

  private Job submit(String key, Priority priority, String settings, String payload) {
    return world.submit(new Submission("t", priority, key, null, 0, policy(settings)), payload);
  }

  private List<Assignment> assign(WorkerId worker, int count) {
    return world.registry().assign("t", Collections.nCopies(count, worker));
  }

  private static List<String> keys(List<Assignment> assignments) {
    return assignments.stream().map(each -> each.job().key()).toList();
  }

  private void done(Assignment assignment) {
    world.accepted(world.completed(assignment, "result"));
  }

  @Test
  void a_type_has_no_more_running_than_its_limit_whatever_the_priorities() {
    type("running=2");
    submit("b1", "");
    submit("b2", "");
    submit("i1", Priority.IMMEDIATE, "", "{}");
    List<Assignment> first = assign(A, 5);
    assertThat(keys(first)).containsExactly("i1", "b1");
    assertThat(assign(B, 5)).isEmpty();
    done(first.getFirst());
    assertThat(keys(assign(B, 5))).containsExactly("b2");
  }

  @Test
  void settings_that_are_set_at_run_time_take_precedence_until_they_are_taken_back() {
    type("running=1 attempts=4");
    submit("1", "");
    submit("2", "");
    submit("3", "");
    TypeSettings settings = world.jobs().typeSettings();
    assertThat(assign(A, 5)).hasSize(1);
    assertThat(settings.change("t", Map.of("running", "2", "priority", "3"), false).fields())
        .containsOnly(Map.entry("running", "2"), Map.entry("priority", "3"));
    assertThat(settings.policy("t")).isEqualTo(policy("running=2 priority=3 attempts=4"));
    assertThat(assign(A, 5)).hasSize(1);

    // Another server of the store, and the next start, have them too.
    Jobs other = world.another(9, JobTypes.of(List.of(new JobType("t", null, null))));
    assertThat(other.typeSettings().set()).isEqualTo(settings.set());
    assertThat(other.registry().assign("t", List.of(B))).isEmpty();
    settings.change("t", Map.of("running", "3"), true);
    assertThat(settings.set()).containsOnly(Map.entry("t", policy("running=3")));
    assertThat(other.typeSettings().step(world.now())).isEqualTo(world.now().plusSeconds(1));
    assertThat(other.typeSettings().policy("t").fields()).containsEntry("running", "3");
    assertThat(other.registry().assign("t", List.of(B))).hasSize(1);

    assertThat(settings.change("t", Map.of("running", ""), false)).isEqualTo(Policy.NONE);
    assertThat(settings.set()).isEmpty();
    assertThat(settings.policy("t")).isEqualTo(policy("running=1 attempts=4"));
    submit("4", "");
    assertThat(assign(A, 5)).isEmpty();
  }

  @Test
  void what_is_no_setting_of_a_type_is_refused() {
    type("running=1");
    TypeSettings settings = world.jobs().typeSettings();
    for (Map.Entry<String, String> wrong :
        Map.of("speed", "1", "key", "ann", "keep_count", "5", "running", "0").entrySet()) {
      assertThatThrownBy(() -> settings.change("t", Map.ofEntries(wrong), false))
          .isInstanceOf(PolicyException.class)
          .hasMessageContaining(wrong.getKey());
    }
    assertThat(settings.set()).isEmpty();
  }

  @Test
  void the_keys_of_a_type_take_turns_and_have_their_limit_in_all_its_groups() {
    type("key_running=1");
    submit("a1", Priority.IMMEDIATE, "key=ann", "{}");
    submit("a2", "key=ann");
    submit("b1", "key=bob");
    submit("b2", "key=bob");
    submit("free", "");
    List<Assignment> first = assign(A, 9);
    assertThat(keys(first)).containsExactly("a1", "b1", "free");
    assertThat(assign(B, 9)).isEmpty();
    // It waits in the group of jobs at which worker A has failed.
    world.accepted(world.failed(first.getFirst()));
    assertThat(keys(assign(B, 9))).containsExactly("a2");
    assertThat(assign(B, 9)).isEmpty();
  }

  @Test
  void a_field_of_the_payload_is_the_key() {
    type("key_running=1 key_field=user");
    submit("a1", Priority.BATCH, "", "{\"user\": \"ann\"}");
    submit("a2", Priority.BATCH, "", "{\"user\": \"ann\"}");
    submit("n1", Priority.BATCH, "", "{\"user\": 7}");
    submit("n2", Priority.BATCH, "key=ann", "{\"user\": 8}");
    submit("none", "");
    assertThat(keys(assign(A, 9))).containsExactly("a1", "n1", "none");
    assertThat(world.job(world.registry().find("a2").orElseThrow().id()).order().policy().key())
        .contains("ann");
    assertThatThrownBy(() -> submit("x", Priority.BATCH, "", "no JSON"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("key_field needs a payload that is a JSON object");
    assertThatThrownBy(() -> submit("x", Priority.BATCH, "", "{\"user\": [1]}"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("field user of the payload is the key of the job");
  }

  @Test
  void a_higher_level_of_priority_goes_first_among_jobs_of_one_kind() {
    type("");
    submit("low", "");
    submit("high", "priority=9");
    submit("middle", "priority=5");
    submit("now", Priority.IMMEDIATE, "", "{}");
    assertThat(keys(assign(A, 1))).containsExactly("now");
    assertThat(keys(assign(A, 3))).containsExactly("high", "middle", "low");
  }

  @Test
  void keys_take_turns_in_a_type_without_limits_as_well() {
    type("");
    for (int i = 1; i <= 3; i++) {
      submit("a" + i, "key=ann");
    }
    submit("plain", "");
    submit("b1", "key=bob");
    assertThat(keys(assign(A, 9))).containsExactly("a1", "plain", "b1", "a2", "a3");
  }

  @Test
  void starts_of_a_type_are_limited_in_a_time() {
    type("starts=2/10s");
    for (int i = 1; i <= 4; i++) {
      submit("k" + i, "");
    }
    List<Assignment> first = assign(A, 9);
    assertThat(keys(first)).containsExactly("k1", "k2");
    first.forEach(this::done);
    assertThat(assign(A, 9)).isEmpty();
    assertThat(world.registry().pauseForLimits("t")).contains(Duration.ofMillis(500));
    world.restart();
    assertThat(assign(A, 9)).isEmpty();
    world.advance(Duration.ofSeconds(5));
    assertThat(keys(assign(A, 9))).containsExactly("k3");
    world.advance(Duration.ofSeconds(5));
    assertThat(keys(assign(A, 9))).containsExactly("k4");
    assertThat(world.registry().pauseForLimits("t")).isEmpty();
  }

  @Test
  void a_type_shares_a_limit_with_groups_of_tasks() {
    type("limits=gpu");
    SharedLimits limits = new SharedLimits(world.store(), OTHER);
    limits.put("gpu", SharedLimits.limit("running", 2, ""));
    world
        .store()
        .commit(
            Transaction.by(OTHER)
                .put(Throttling.ofGroup("tasks"), 0, Bytes.of("shared gpu"))
                .add("tasks", "x")
                .build())
        .done();
    Claim claim = Claim.of(OTHER, "tasks", Duration.ofMinutes(1));
    Task task = world.store().claim(claim).done().tasks().getFirst();
    submit("k1", "");
    submit("k2", "");
    assertThat(keys(assign(A, 9))).containsExactly("k1");
    assertThat(limits.find("gpu"))
        .hasValueSatisfying(usage -> {
          assertThat(usage.used()).isEqualTo(2);
          assertThat(usage.prefixes()).containsExactly("jobs/t/");
        });
    world.store().commit(Transaction.by(OTHER).delete(task.ref()).build()).done();
    assertThat(keys(assign(A, 9))).containsExactly("k2");
  }

  @Test
  void a_result_that_becomes_a_job_keeps_the_key() {
    types(
        new JobType("t", null, "next", policy("key_field=user")),
        new JobType("next", null, null, policy("key_running=1 priority=3")));
    submit("a1", Priority.BATCH, "", "{\"user\": \"ann\"}");
    done(assign(A, 1).getFirst());
    Job next = world.assign("next", A).job();
    assertThat(next.order().policy().key()).contains("ann");
    assertThat(next.order().policy().priority()).isEqualTo(3);
  }

  @Test
  void limits_that_are_configured_no_more_are_removed() {
    type("running=1");
    submit("k1", "");
    submit("k2", "");
    assertThat(keys(assign(A, 9))).containsExactly("k1");
    assertThat(limits()).containsExactly("jobs/t/");
    type("");
    assertThat(limits()).isEmpty();
    assertThat(keys(assign(A, 9))).containsExactly("k2");
  }

  private List<String> limits() {
    return world.store().documents(DocumentQuery.prefix(Throttling.PREFIXES, "")).value().stream()
        .map(document -> document.key().key())
        .toList();
  }

  @Test
  void limits_do_not_change_when_a_failed_job_is_tried_again() {
    type("running=5");
    submit("k1", "key=ann");
    world.accepted(world.failed(assign(A, 1).getFirst()));
    assertThat(keys(assign(B, 1))).containsExactly("k1");
  }
}
