package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.FaultyStore;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SubmittingTest {
  private static final int THREADS = 50;
  private static final int EACH = 100;

  @Test
  void batches_are_filled_exactly_by_many_at_a_time_and_each_key_has_one_job(@TempDir Path folder)
      throws InterruptedException, ExecutionException {
    JobTypes types =
        JobTypes.of(List.of(new JobType("a", null, null), new JobType("b", null, null)));
    Jobs.Options options = new Jobs.Options(70, 3, 5, Jobs.Options.DEFAULTS.lease());
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder.resolve("store")));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Jobs.Environment environment = new Jobs.Environment(Clock.systemUTC(), new Random(1));
      Jobs jobs =
          Jobs.open(
              store, FileBlobStore.open(folder.resolve("blobs")), types, options, environment);
      List<Future<Integer>> refused = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        refused.add(threads.submit(() -> submit(jobs.registry(), thread)));
      }
      int notTaken = 0;
      for (Future<Integer> each : refused) {
        notTaken += each.get();
      }
      // Two threads at a time want the same keys.
      assertThat(notTaken).isEqualTo(THREADS * EACH / 2);
      checkBatches(jobs.registry(), THREADS * EACH / 2);
    }
  }

  @Test
  void a_commit_that_fails_for_a_reason_nobody_foresaw_leaves_the_outcome_unknown_to_all_of_it(
      @TempDir Path folder) throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    FaultyStore.Faults faults =
        new FaultyStore.Faults() {
          @Override
          public boolean reaches() {
            return true;
          }

          @Override
          public boolean answers() {
            if (failing.get()) {
              throw new IllegalStateException("a mistake");
            }
            return true;
          }
        };
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder.resolve("store")))) {
      Jobs jobs =
          Jobs.open(
              new FaultyStore(() -> store, faults),
              FileBlobStore.open(folder.resolve("blobs")),
              JobTypes.NONE,
              Jobs.Options.DEFAULTS,
              new Jobs.Environment(Clock.systemUTC(), new Random(1)));
      JobRegistry registry = jobs.registry();
      Submission order = new Submission("", Priority.BATCH, null, null);
      Value.Inline payload = new Value.Inline(new byte[10]);
      failing.set(true);
      // Committed by another thread than those that wait for them.
      List<CompletableFuture<Job>> both =
          List.of(
              registry.enqueue(registry.newId(), order, payload),
              registry.enqueue(registry.newId(), order, payload));
      registry.flush();
      for (CompletableFuture<Job> each : both) {
        assertThatThrownBy(() -> each.get(30, TimeUnit.SECONDS))
            .hasCauseInstanceOf(OutcomeUnknownException.class)
            .hasMessageContaining("a mistake");
      }
      assertThatThrownBy(() -> registry.submit(registry.newId(), order, payload))
          .isInstanceOf(OutcomeUnknownException.class);
      failing.set(false);
      Job next = registry.submit(registry.newId(), order, payload);
      assertThat(registry.list(JobFilter.ALL, null, 10)).hasSize(4).last().isEqualTo(next);
    }
  }

  /** How many were refused; every second thread does not wait within the registry. */
  private static int submit(JobRegistry registry, int thread) {
    int refused = 0;
    for (int i = 0; i < EACH; i++) {
      String key = "key-" + thread / 2 + "-" + i;
      Submission order = new Submission(i % 3 == 0 ? "a" : "b", Priority.BATCH, key, null);
      Value.Inline payload = new Value.Inline(new byte[10]);
      try {
        if (thread % 2 == 0) {
          registry.submit(registry.newId(), order, payload);
        } else {
          CompletableFuture<Job> answer = registry.enqueue(registry.newId(), order, payload);
          registry.flush();
          answer.join();
        }
      } catch (InvalidJobException _) {
        refused++;
      } catch (CompletionException e) {
        assertThat(e).hasCauseInstanceOf(InvalidJobException.class);
        refused++;
      }
    }
    return refused;
  }

  private static void checkBatches(JobRegistry registry, int expected) {
    Set<String> keys = new HashSet<>();
    Set<String> open = new HashSet<>();
    List<Batch> batches = registry.batches(0, 1_000);
    assertThat(batches.stream().map(Batch::id))
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, batches.size()).mapToObj(i -> (long) i).toList());
    for (Batch batch : batches) {
      List<Job> members = registry.jobsOf(batch);
      assertThat(members).hasSize(batch.size());
      assertThat(members).extracting(Job::type).containsOnly(batch.type());
      assertThat(members).extracting(job -> job.place().task()).isSorted();
      members.forEach(job -> assertThat(keys.add(job.key())).isTrue());
      assertThat(open.contains(batch.type())).as("one batch of a type is open").isFalse();
      if (!batch.isFull()) {
        open.add(batch.type());
      }
    }
    assertThat(keys).hasSize(expected);
  }
}
